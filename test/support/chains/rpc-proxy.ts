import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { closeServer, listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";

/**
 * How the proxy handles one JSON-RPC call: forward it, lose it, forward it and lose the answer, or answer something
 * else.
 */
export type Fate = "pass" | "lose" | "lose-answer" | { readonly status: number; readonly body: string };

/** A proxy in front of a JSON-RPC node. */
export interface RpcProxy {
  readonly url: string;
  /** The methods that were called, in order. */
  readonly calls: string[];
  /** Their parameters. */
  readonly params: unknown[];
  /** The methods whose caller did not wait for the answer. */
  readonly abandoned: string[];
  /** Sets how all further calls are handled; by default all pass. A promise holds the call until it is settled. */
  intervene(decide: (method: string) => Fate | Promise<Fate>): void;
  stop(): Promise<void>;
}

/** Starts one on loopback, in front of `target`. */
export async function startRpcProxy(target: string): Promise<RpcProxy> {
  const calls: string[] = [];
  const params: unknown[] = [];
  const abandoned: string[] = [];
  let decide: (method: string) => Fate | Promise<Fate> = () => "pass";
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const { method, params: given } = JSON.parse(body) as { method: string; params: unknown };
    calls.push(method);
    params.push(given);
    response.once("close", () => response.writableEnded || abandoned.push(method));
    const fate = await decide(method);
    if (typeof fate === "object") return response.writeHead(fate.status).end(fate.body);
    if (fate === "lose") return response.destroy();
    const answer = await fetch(target, { method: "POST", headers: { "content-type": "application/json" }, body });
    const said = await answer.text();
    if (fate === "lose-answer") return response.destroy();
    response.writeHead(answer.status, { "content-type": "application/json" }).end(said);
  });
  return {
    url: await listenOnLoopback(server),
    calls,
    params,
    abandoned,
    intervene: (judge) => {
      decide = judge;
    },
    stop: () => closeServer(server),
  };
}
