import type { RequestListener } from "node:http";
import { type ParsedUrlQuery, parse } from "node:querystring";
import express, { type ErrorRequestHandler, type Request, type RequestHandler } from "express";
import type { Clock, Log } from "../api/capabilities.ts";
import { Problem } from "../api/problem.ts";
import type { ReportShelf } from "../core/jobs/reports.ts";
import type { CreateLimiter } from "../core/limiter.ts";
import { PATHS } from "../core/paths.ts";
import type { Service } from "../core/service.ts";
import type { SiteManifest } from "../core/set/manifest.ts";
import type { Document } from "../surfaces/http/document.ts";
import { readPaymentHeaders } from "../surfaces/http/payment-headers.ts";
import type { RpcDoor } from "../surfaces/rpc/door.ts";
import { createAccessLog, createFailureLog, type FailureLog } from "./access-log.ts";
import { toFixedHeaders } from "./reply/headers.ts";
import { toProblemReply, toRequestProblem } from "./reply/problems.ts";
import { createSend, type Send, toJsonReply } from "./reply/reply.ts";
import { createHeldAnswers, MOST_UNREAD } from "./reply/unread.ts";
import { contextOf, openContext } from "./request/context.ts";
import { createLimits } from "./request/limits.ts";
import { checkHost, checkTarget, toOriginForm, toPattern } from "./request/target.ts";
import { createDocuments, toDocumentReply } from "./routes/documents.ts";
import { toOptionsReply } from "./routes/preflight.ts";
import { createReports } from "./routes/reports.ts";
import { type HandlerOptions, type Methods, toHandler } from "./routes/resource.ts";
import { createRest, type RestDeps } from "./routes/rest.ts";
import { createRpc } from "./routes/rpc.ts";
import { createProbes, type ReadyReport } from "./routes/status.ts";

export interface AppDeps extends Pick<RestDeps, "services" | "invoke" | "challenge"> {
  /** The services that have routes, retired ones included. Default: `services`. */
  readonly routed?: readonly Service[];
  readonly site: Pick<SiteManifest, "name"> & {
    /** The public base URL, without a trailing slash. */
    readonly baseUrl: string;
  };
  readonly limits: Omit<SiteManifest["limits"], "offer_seconds" | "deadline_seconds">;
  readonly createLimiter: CreateLimiter;
  /** How many bytes of answers may wait for their clients to read them. Default: `MOST_UNREAD`. */
  readonly mostUnread?: number;
  /** Trusted proxies: how many, or their addresses (Express's `trust proxy`). Default: none. */
  readonly trustProxy?: number | readonly string[];
  readonly ready: () => Promise<ReadyReport>;
  /** By path. */
  readonly documents?: ReadonlyMap<string, Document>;
  /** The page for browsers at unknown paths. When omitted, browsers get a problem document like all other clients. */
  readonly notFound?: Document;
  /** JSON-RPC endpoints by path: MCP, A2A. */
  readonly doors?: ReadonlyMap<string, RpcDoor>;
  /** Published files. */
  readonly reports?: Pick<ReportShelf, "find">;
  /** Names the recorded sources of a service's answers, for their header. */
  readonly origins?: RestDeps["origins"];
  /** Counts the calls that the limits refuse. */
  readonly count?: RestDeps["count"];
  /** The answer of `/sandbox`. When omitted, the path does not exist. */
  readonly sandbox?: object;
  readonly clock: Clock;
  readonly log: Log;
}

/** Everything that is served over HTTP, as a listener for `openServer`. */
export function createApp(deps: AppDeps): RequestListener {
  const { site, limits: bounds, clock, log } = deps;
  const largest = [...(deps.routed ?? deps.services), ...(deps.doors?.values() ?? [])].map(toBodyBytes);
  const limits = createLimits({ ...bounds, largestBody: Math.max(0, ...largest) }, deps.createLimiter);
  const fail = createFailureLog(log, clock);
  const send = createSend(toFixedHeaders(site.baseUrl), {
    hold: createHeldAnswers(deps.mostUnread ?? MOST_UNREAD, fail),
    record: createAccessLog(log, clock),
    onUnread(client, bytes) {
      limits.take(client, "bytes", bytes).catch(() => undefined); // The answer is sent already; only later bodies are refused.
    },
  });
  const shared = { maxDepth: bounds.body_depth, limits };
  const app = express().disable("x-powered-by").enable("strict routing").enable("case sensitive routing");
  app.set("query parser", parseQuery).set("trust proxy", deps.trustProxy ?? 0);
  /** Paths without parameters, so that their requests do not try every route in turn. */
  const fixed = new Map<string, RequestHandler>();
  const mount = (paths: ReadonlyMap<string, Methods>, budgetOf: HandlerOptions["budgetOf"]): void => {
    for (const [path, methods] of paths) {
      const handle = toHandler(methods, { limits, budgetOf, send });
      // `app.all` would register each handler once per method: 35 times.
      if (path.includes("{")) app.route(toPattern(path)).all(handle);
      else if (!fixed.has(path)) fixed.set(path, handle);
    }
  };

  app.use(begin(clock, bounds.url_bytes));
  app.use((request, response, next) => {
    const { path } = contextOf(response);
    const handle = fixed.get(path);
    if (!handle) return next();
    request.route = { path }; // As Express does for the others.
    return handle(request, response, next);
  });
  mount(createProbes(site.name, deps.ready), () => undefined);
  mount(
    createRest({ ...deps, services: deps.routed ?? deps.services, ...shared, baseUrl: site.baseUrl }),
    () => undefined,
  );
  const endpoints = createRpc({ ...shared, doors: deps.doors ?? new Map(), count: deps.count, fail });
  const slashed = [...endpoints].map(([path, methods]) => [`${path}/`, methods] as const); // Some clients add a slash.
  mount(new Map([...endpoints, ...slashed]), () => undefined);
  mount(createDocuments(deps.documents ?? new Map()), () => "free");
  if (deps.reports) mount(createReports(deps.reports, site.baseUrl), () => "unpaid");
  if (deps.sandbox) mount(toSandbox(deps.sandbox), () => "free");
  app.use(answerNowhere({ limits, send, fixed, baseUrl: site.baseUrl }));
  app.use(answerProblems(send, fail, deps.notFound));
  return app;
}

const toBodyBytes = (one: Service | RpcDoor): number => ("bodyBytes" in one ? one.bodyBytes : one.maxBytes);

/** All parameters: without `maxKeys` those behind the thousandth would be left out, of a call that is paid. */
const parseQuery = (query: string): ParsedUrlQuery => parse(query, "&", "=", { maxKeys: 0 });

function begin(clock: Clock, maxUrlBytes: number): RequestHandler {
  return (request, response, next) => {
    request.url = toOriginForm(request.url);
    openContext(request, response, clock);
    checkTarget(request.url, maxUrlBytes);
    checkHost(request.rawHeaders);
    next();
  };
}

function toSandbox(sandbox: object): ReadonlyMap<string, Methods> {
  const reply = toJsonReply(sandbox);
  return new Map([[PATHS.sandbox, { GET: () => reply }]]);
}

interface NowhereDeps extends Omit<HandlerOptions, "budgetOf"> {
  /** Keyed by the paths without parameters. */
  readonly fixed: ReadonlyMap<string, unknown>;
  readonly baseUrl: string;
}

/** `OPTIONS *` asks about the whole server; every other request that gets here has an unknown path. */
function answerNowhere({ limits, send, fixed, baseUrl }: NowhereDeps): RequestHandler {
  return async ({ method }, response) => {
    const { path, client } = contextOf(response);
    const isServer = path === "*" && method === "OPTIONS";
    await limits.take(client, isServer ? "free" : "unpaid");
    if (isServer) return send(response, toOptionsReply("GET, HEAD, POST, OPTIONS", undefined));
    const near = path
      .replace(/\/{2,}/g, "/")
      .replace(/(.)\/$/, "$1")
      .toLowerCase();
    const there = fixed.has(near) ? `use ${baseUrl}${near}` : "GET / lists what is here";
    throw new Problem("not-found", `There is nothing at this path; ${there}`);
  };
}

/** The one place where errors become answers. Causes of failures on our side are logged, never shown. */
function answerProblems(send: Send, logFailure: FailureLog, notFound: Document | undefined): ErrorRequestHandler {
  const page = notFound && toDocumentReply(notFound, 404);
  return (error, request, response, _next) => {
    const context = contextOf(response);
    const problem = toRequestProblem(error);
    context.code = problem.code;
    logFailure(response, problem);
    if (response.headersSent) return;
    const isPage = problem.code === "not-found" && context.service === undefined && wantsPage(request);
    const payment = readPaymentHeaders(request.headers);
    send(response, isPage && page ? page : toProblemReply(problem, context.id, [], payment));
  };
}

/** Whether the client prefers HTML. Clients that accept anything get JSON. */
const wantsPage = (request: Request): boolean =>
  ["GET", "HEAD"].includes(request.method) &&
  request.accepts(["application/problem+json", "application/json", "text/html"]) === "text/html";
