import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { encodeAbiParameters } from "viem";
import type { Hex } from "../../../runtime/api/capabilities.ts";
import { closeServer, listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";

/** A scripted EIP-3668 gateway on loopback. */
export interface EnsGateway {
  /** A URL with a host name that the test's resolver must know. */
  url(path: string): string;
  readonly asked: { method: string; url: string; body: string }[];
  answer: (request: IncomingMessage) => readonly [status: number, body: string];
  stop(): Promise<void>;
}

export async function startEnsGateway(): Promise<EnsGateway> {
  const server = createServer(async (request, response) => {
    gateway.asked.push({ method: request.method ?? "", url: request.url ?? "", body: await text(request) });
    const [status, body] = gateway.answer(request);
    response.writeHead(status, { "content-type": "application/json" }).end(body);
  });
  const { port } = new URL(await listenOnLoopback(server));
  const gateway: EnsGateway = {
    url: (path) => `http://gateway.test:${port}${path}`,
    asked: [],
    answer: () => [500, ""],
    stop: () => closeServer(server),
  };
  return gateway;
}

/** The `data` that a gateway of an ENSIP-10 resolver answers for `addr(node)`. */
export const toGatewayAnswer = (address: Hex): Hex =>
  encodeAbiParameters([{ type: "bytes" }], [encodeAbiParameters([{ type: "address" }], [address])]);
