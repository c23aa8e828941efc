import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { PATHS } from "../../../../../runtime/core/paths.ts";
import { silentLog } from "../../../../../runtime/core/silent-log.ts";
import { createMemoryLimiter } from "../../../../../runtime/drivers/memory-limiter.ts";
import { closeServer, listenOnLoopback } from "../../../../../runtime/sandbox/json-rpc.ts";
import { createApp } from "../../../../../runtime/server/app.ts";
import { toAgentCard, toJwks } from "../../../../../runtime/surfaces/a2a/agent-card.ts";
import { type Door, type DoorOptions, openDoor } from "./door.ts";

/** A door on the real server, with its card and its keys, on a free port of the loopback address. */
export interface ServedDoor {
  readonly door: Door;
  readonly port: string;
  /** Scheme, host and port. */
  readonly url: string;
  /** What was asked for, as `METHOD /path`. */
  readonly seen: string[];
  close(): Promise<void>;
}

export interface ServeOptions extends Omit<DoorOptions, "baseUrl"> {
  /** The public base URL, when it is another than the server's own. */
  readonly publicUrl?: string;
  readonly tls?: { readonly key: string; readonly cert: string };
}

export async function serveDoor({ publicUrl, tls, ...options }: ServeOptions = {}): Promise<ServedDoor> {
  const server = tls ? createTlsServer(tls) : createServer();
  const { port } = new URL(await listenOnLoopback(server));
  const url = `${tls ? "https" : "http"}://127.0.0.1:${port}`;
  const baseUrl = publicUrl ?? url;
  const door = await openDoor({ ...options, baseUrl });
  const { services, site, identity, invoke, clock, a2a } = door;
  const card = toAgentCard({ services, site, baseUrl, facilitator: "here", identity });
  const toDocument = (value: object) => ({ type: "application/json", body: Buffer.from(JSON.stringify(value)) });
  const seen: string[] = [];
  const app = createApp({
    services,
    invoke,
    challenge: () => {
      throw new Error("not asked");
    },
    site: { ...site, baseUrl },
    limits: site.limits,
    ready: () => Promise.reject(new Error("not asked")),
    documents: new Map([
      [PATHS.agentCard, toDocument(card)],
      [PATHS.jwks, toDocument(toJwks(identity))],
    ]),
    doors: new Map([[PATHS.a2a, a2a]]),
    createLimiter: createMemoryLimiter,
    clock,
    log: silentLog,
  });
  server.on("request", (request, response) => {
    seen.push(`${request.method} ${request.url}`);
    app(request, response);
  });
  return {
    door,
    port,
    url,
    seen,
    async close() {
      door.close();
      await closeServer(server);
    },
  };
}
