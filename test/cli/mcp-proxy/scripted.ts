import { createServer, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { generatePrivateKey } from "viem/accounts";
import { listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";
import { USDC_OFFER } from "../call/seller.ts";

/** A call of a tool, as it came. */
export interface Asked {
  readonly id: unknown;
  readonly params: { readonly name: string; readonly arguments: Record<string, unknown>; readonly _meta?: object };
  readonly payment: unknown;
  readonly progressToken: unknown;
  readonly outgoing: ServerResponse;
  /** Answers with a result. */
  answer(result: object): void;
}

/** A result that asks for payment. */
export const UNPAID = {
  isError: true,
  content: [],
  structuredContent: {
    x402Version: 2,
    error: "pay",
    resource: { url: "https://seller.example/" },
    accepts: [USDC_OFFER],
  },
};

/** A seller in a sandbox, of MCP's handshake era, that lists and answers as it is told. */
export async function startScripted(
  call: (asked: Asked) => void,
  list: (params: { readonly cursor?: string }) => object = () => ({ tools: [] }),
): Promise<{ url: string; close: () => void }> {
  const server = createServer(async (incoming, outgoing) => {
    const { id, method, params = {} } = JSON.parse((await buffer(incoming)).toString() || "{}");
    const json = (body: object): void =>
      void outgoing.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
    const answer = (result: object): void => json({ jsonrpc: "2.0", id, result });
    if (incoming.url === "/sandbox")
      return json({ mode: "sandbox", buyer: { evm: { private_key: generatePrivateKey() } } });
    if (method === "server/discover") return json({ jsonrpc: "2.0", id, error: { code: -32601, message: "?" } });
    if (method === "initialize") {
      const { protocolVersion } = params;
      const capabilities = { tools: { listChanged: null }, prompts: null };
      return answer({ protocolVersion, capabilities, serverInfo: { name: "scripted", version: "1", title: null } });
    }
    if (id === undefined) return void outgoing.writeHead(incoming.method === "POST" ? 202 : 405).end();
    if (method === "tools/list") return answer(list(params));
    const { "x402/payment": payment, progressToken } = params._meta ?? {};
    call({ id, params, payment, progressToken, outgoing, answer });
  });
  return { url: `${await listenOnLoopback(server)}/mcp`, close: () => server.close() };
}
