import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { Client } from "@modelcontextprotocol/client";
import { expect } from "chai";
import { generatePrivateKey } from "viem/accounts";
import { createFolder } from "../../support/folder.ts";
import { USDC_OFFER } from "../call/seller.ts";
import { openProxy } from "./proxy.ts";

const CHALLENGE = { x402Version: 2, error: "pay", resource: { url: "https://seller.example/" }, accepts: [USDC_OFFER] };
const RESULT = { content: [{ type: "text", text: "here" }] };

describe("payphone mcp-proxy, at a seller who answers with streams of events,", () => {
  let seller: Server;
  let client: Client;
  /** The payments that came. */
  let paid: unknown[];
  /** How the first stream for a payment ends before its answer. */
  let cut: "end" | "destroy";
  const spending = createFolder();

  before(async () => {
    seller = createServer(async (incoming, outgoing) => {
      const { id, method, params } = JSON.parse((await buffer(incoming)).toString() || "{}");
      const answer = (body: object): void =>
        void outgoing.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
      const events = { "content-type": "text/event-stream" };
      const tell = (result: object): void => {
        const data = JSON.stringify({ jsonrpc: "2.0", id, result });
        outgoing.writeHead(200, events).end(`event: message\ndata: ${data}\n\n`);
      };
      if (incoming.url === "/sandbox")
        return answer({ mode: "sandbox", buyer: { evm: { private_key: generatePrivateKey() } } });
      if (method === "server/discover") return answer({ jsonrpc: "2.0", id, error: { code: -32601, message: "?" } });
      if (method === "initialize") {
        const { protocolVersion } = params;
        return tell({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "events", version: "1" } });
      }
      if (method === "tools/list") return tell({ tools: [] });
      if (id === undefined) return void outgoing.writeHead(incoming.method === "POST" ? 202 : 405).end();
      const payment = params._meta?.["x402/payment"];
      if (payment === undefined) return tell({ isError: true, content: [], structuredContent: CHALLENGE });
      if (paid.push(payment) > 1) return tell(RESULT);
      outgoing.writeHead(200, events).write(": hi\n\n", () => outgoing[cut]());
    });
    await once(seller.listen(0, "127.0.0.1"), "listening");
    client = await openProxy(`http://127.0.0.1:${(seller.address() as AddressInfo).port}/mcp`, spending);
  });
  after(async () => {
    await client.close();
    seller.close();
  });

  for (const [how, what] of [
    ["end", "ends"],
    ["destroy", "breaks off"],
  ] as const)
    it(`sends the same payment again at once when one ${what} without its answer`, async () => {
      [cut, paid] = [how, []];
      expect(await client.callTool({ name: "here", arguments: {} })).to.deep.include(RESULT);
      expect(paid).to.have.length(2);
      expect(paid[1]).to.deep.equal(paid[0]);
    });
});
