import { createServer, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { closeServer, listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";

type Forward = () => Promise<{ status: number; body: string }>;

/** How the proxy handles one request; by default it forwards the request to the real facilitator. */
export type Mishap = (forward: Forward, response: ServerResponse) => Promise<void>;

/** A proxy in front of the real facilitator whose answers a test can change. */
export interface FacilitatorProxy {
  readonly url: string;
  readonly asked: { verify: number; settle: number; supported: number };
  mishaps: { verify?: Mishap; settle?: Mishap };
  stop(): Promise<void>;
}

export async function startFacilitatorProxy(facilitator: string): Promise<FacilitatorProxy> {
  const asked = { verify: 0, settle: 0, supported: 0 };
  const server = createServer(async (request, response) => {
    const asking = await text(request);
    const action = (request.url ?? "").slice(1) as keyof typeof asked;
    asked[action] += 1;
    const forward: Forward = async () => {
      const { method = "GET" } = request;
      const headers = { "content-type": "application/json" };
      const answer = await fetch(`${facilitator}/${action}`, { method, headers, body: asking || null });
      return { status: answer.status, body: await answer.text() };
    };
    const mishap = action === "supported" ? undefined : proxy.mishaps[action];
    if (mishap) return mishap(forward, response);
    const { status, body } = await forward();
    response.writeHead(status, { "content-type": "application/json" }).end(body);
  });
  const proxy: FacilitatorProxy = {
    url: await listenOnLoopback(server),
    asked,
    mishaps: {},
    stop: () => closeServer(server),
  };
  return proxy;
}
