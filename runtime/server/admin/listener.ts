import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Log } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { toProblemReply } from "../reply/problems.ts";
import type { Reply } from "../reply/reply.ts";
import type { AdminGate } from "./gate.ts";
import { asksForPage, PLAIN_POLICY, toFaultPage } from "./plain-pages.ts";
import { type AdminRoute, findRoute } from "./routes.ts";

export interface AdminListenerOptions {
  readonly routes: readonly AdminRoute[];
  /** Authenticates requests; omitted for the socket in the data directory, which only the operator can reach. */
  readonly gate?: AdminGate | undefined;
  readonly log: Log;
}

const BODY_BYTES = 1_048_576;
/** Headers of every answer; a route may override them. */
const FIXED = {
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "X-Frame-Options": "DENY",
};

/** Answers the operator's requests. Shares no routes with the listener for buyers. */
export function createAdminListener(options: AdminListenerOptions): RequestListener {
  const { log, gate } = options;
  const routes = gate ? options.routes.filter(({ isLocal }) => !isLocal) : options.routes;
  return (request, response) => {
    void answer(request).then((reply) => send(request, response, reply));
  };

  async function answer(request: IncomingMessage): Promise<Reply> {
    const url = URL.parse(request.url ?? "/", "http://admin.invalid");
    try {
      if (!url) throw new Problem("bad-request", "The address cannot be read");
      const refusal = gate?.(request, url);
      if (refusal) return refusal;
      const found = findRoute(routes, request.method ?? "GET", url.pathname);
      if ("allow" in found) {
        const problem = new Problem("method-not-allowed", `${url.pathname} does not answer ${request.method}`);
        return toProblemReply(problem, undefined, ["Allow", found.allow]);
      }
      const { route, params } = found;
      const body = (): Promise<string> => readBody(request);
      return await route.handle({ path: url.pathname, query: url.searchParams, params, body });
    } catch (error) {
      const problem = Problem.from(error);
      if (problem.status >= 500) log.error("admin.failed", { path: url?.pathname, error });
      const { status, message } = problem;
      return status === 404 && asksForPage(request) ? toPage(status, toFaultPage(message)) : toProblemReply(problem);
    }
  }
}

const toPage = (status: number, body: string): Reply => ({
  status,
  headers: ["Content-Type", "text/html; charset=utf-8", "Content-Security-Policy", PLAIN_POLICY],
  body,
});

function send(request: IncomingMessage, response: ServerResponse, { status, headers, body = "" }: Reply): void {
  request.resume();
  for (const [name, value] of Object.entries(FIXED)) response.setHeader(name, value);
  for (let at = 0; at < headers.length; at += 2) response.setHeader(headers[at] as string, headers[at + 1] as string);
  response.setHeader("Content-Length", Buffer.byteLength(body));
  response.writeHead(status).end(request.method === "HEAD" ? undefined : body);
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BODY_BYTES) throw new Problem("payload-too-large", `The body is larger than ${BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
