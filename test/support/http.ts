import { once } from "node:events";
import { connect } from "node:net";
import type { Log } from "../../runtime/api/capabilities.ts";
import type { Invocation, Outcome } from "../../runtime/core/call.ts";
import type { Schema } from "../../runtime/core/schema/validator.ts";
import type { Service } from "../../runtime/core/service.ts";
import type { Manifest } from "../../runtime/core/set/manifest.ts";
import type { Route } from "../../runtime/core/set/route.ts";
import type { Challenge } from "../../runtime/core/x402/challenge.ts";
import type { SettleResponse } from "../../runtime/core/x402/x402.ts";
import { createMemoryLimiter } from "../../runtime/drivers/memory-limiter.ts";
import { type AppDeps, createApp } from "../../runtime/server/app.ts";
import { type OpenServer, openServer } from "../../runtime/server/listen.ts";

const nodes = { resolve: () => true, reach: () => new Set() };
const anything: Schema = {
  document: {},
  nodes,
  check: (value) => ({ value, issues: [] }),
  coerce: (texts) => ({ ...texts }),
};

/** A service with a route and a price. Its handler is the test's `invoke`. */
export function toService(manifest: Pick<Manifest, "id" | "route"> & Partial<Manifest>): Service {
  const full: Manifest = {
    title: manifest.id,
    description: `The service ${manifest.id}`,
    handler: `${manifest.id}.${manifest.id}`,
    input: "In",
    output: "Out",
    tags: [],
    examples: [],
    ...manifest,
  };
  const routes = [full.route, ...(full.aliases ?? [])].map((text) => {
    const [method, path] = text.split(" ");
    return { method, path } as Route;
  });
  const [{ path }] = routes as [Route];
  return {
    manifest: full,
    routes,
    path,
    handler: () => null,
    input: anything,
    output: anything,
    deadlineMs: 20_000,
    bodyFields: Number.POSITIVE_INFINITY,
    bodyBytes: full.body_bytes ?? LIMITS.body_bytes,
  };
}

/** A challenge with one offer for the resource. */
export function toChallenge(url: string, error = "Payment required"): Challenge {
  const offer = { scheme: "exact", network: "eip155:8453", asset: "0xA", amount: "1000", payTo: "0xB" };
  const required = {
    x402Version: 2 as const,
    error,
    resource: { url, description: "", mimeType: "application/json", serviceName: "test", tags: [] },
    accepts: [{ ...offer, maxTimeoutSeconds: 300, extra: {} }],
  };
  const body = Buffer.from(JSON.stringify(required));
  return {
    required,
    lean: required,
    body,
    header: body.toString("base64"),
    v1: () => Buffer.from(JSON.stringify({ x402Version: 1, error, accepts: [] })),
  };
}

export const RECEIPT: SettleResponse = {
  success: true,
  payer: "0xPayer",
  transaction: "0x1",
  network: "eip155:8453",
  amount: "1000",
};

export interface LogLine {
  readonly level: keyof Log;
  readonly event: string;
  readonly [field: string]: unknown;
}

/** A log that collects its lines. */
export function createLogBook(): Log & { readonly lines: LogLine[] } {
  const lines: LogLine[] = [];
  const at =
    (level: keyof Log): Log["info"] =>
    (event, fields) =>
      void lines.push({ ...fields, level, event });
  return { lines, info: at("info"), warn: at("warn"), error: at("error") };
}

export interface Door extends OpenServer {
  /** Every call that reached `invoke`, in order. */
  readonly calls: { readonly id: string; readonly invocation: Invocation }[];
  readonly lines: LogLine[];
}

/**
 * A server on a free port. Without an `invoke` of the test, a call echoes its input when the service is free or the
 * payment is `good`; any other payment is refused.
 */
export async function openDoor(services: readonly Service[], changes: Partial<AppDeps> = {}): Promise<Door> {
  const server = await openServer({ host: "127.0.0.1", port: 0 });
  const calls: Door["calls"] = [];
  const { lines, ...log } = createLogBook();
  const challenges = new Map<string, Challenge>();
  const app = createApp({
    services,
    invoke: echo,
    challenge(_service, resource) {
      if (!challenges.has(resource)) challenges.set(resource, toChallenge(resource));
      return challenges.get(resource) as Challenge;
    },
    documents: new Map([["/", { type: "application/json", body: Buffer.from("{}") }]]),
    ready: async () => ({ status: "ready", store: "up", rails: [], upstreams: [], services: [] }),
    createLimiter: createMemoryLimiter,
    clock: { now: Date.now },
    log,
    ...changes,
    site: { ...SITE, baseUrl: server.url, ...changes.site },
    limits: { ...LIMITS, ...changes.limits },
    ...(changes.invoke && {
      invoke: (service, invocation) => {
        calls.push({ id: service.manifest.id, invocation });
        return (changes.invoke ?? echo)(service, invocation);
      },
    }),
  });
  server.attach(app);
  return { ...server, calls, lines };

  async function echo({ manifest: { id, price } }: Service, invocation: Invocation): Promise<Outcome> {
    calls.push({ id, invocation });
    const { payment, resource, input } = invocation;
    if (price !== undefined && payment !== "good") {
      return { kind: "challenge", challenge: toChallenge(resource, "invalid_payload") };
    }
    const { value, from } = await input();
    const output = { id, value, from };
    return { kind: "result", output, ...(price !== undefined && { receipt: RECEIPT }) };
  }
}

export const LIMITS = {
  body_bytes: 10_000,
  body_depth: 8,
  url_bytes: 2_000,
  unpaid_per_minute: 1_000_000,
  unpaid_burst: 1_000_000,
};

export const SITE = {
  name: "payphone",
  title: "Payphone",
  description: "A shop for tests",
  version: "0.3.0",
  catalog_version: "2.0",
  contact: { name: "payphone", url: "https://example.com" },
  rails: [],
  yen_tiers: {},
};

/** Writes the text to a new connection, and resolves with everything that came back when the server has closed it. */
export function speak(port: number, ...parts: readonly (string | Buffer)[]): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = connect(port, "127.0.0.1");
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk)).on("error", () => undefined);
  socket.on("close", () => resolve(Buffer.concat(chunks).toString()));
  for (const part of parts) socket.write(part);
  return promise;
}

/** Writes the texts to a new connection, and leaves with the first bytes of the answer. */
export async function hear(port: number, ...parts: readonly string[]): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  for (const part of parts) socket.write(part);
  const [bytes] = (await once(socket, "data")) as [Buffer];
  socket.destroy();
  return bytes.toString();
}

/** The JSON of a response, with the type that the test expects. */
export const jsonOf = async <T = Record<string, unknown>>(response: Response): Promise<T> =>
  (await response.json()) as T;

/** Decodes a header of base64 JSON. */
export const decodeHeader = (text: string | null): unknown => JSON.parse(Buffer.from(text ?? "", "base64").toString());
