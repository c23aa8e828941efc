import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { Client, Progress } from "@modelcontextprotocol/client";
import { expect } from "chai";
import { generatePrivateKey } from "viem/accounts";
import { eventually } from "../../support/eventually.ts";
import { createFolder } from "../../support/folder.ts";
import { USDC_OFFER } from "../call/seller.ts";
import { openProxy } from "./proxy.ts";

const CHALLENGE = { x402Version: 2, error: "pay", resource: { url: "https://seller.example/" }, accepts: [USDC_OFFER] };
const RESULT = { content: [{ type: "text", text: "here" }] };

describe("payphone mcp-proxy, at a seller who tells of progress,", () => {
  let seller: Server;
  let client: Client;
  /** The tokens of calls, in the order in which these came. */
  let tokens: unknown[];
  let heard: Progress[];
  const spending = createFolder();

  before(async () => {
    seller = createServer(async (incoming, outgoing) => {
      const { id, method, params } = JSON.parse((await buffer(incoming)).toString() || "{}");
      const json = (body: object): void =>
        void outgoing.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
      const answer = (result: object): void => json({ jsonrpc: "2.0", id, result });
      if (incoming.url === "/sandbox")
        return json({ mode: "sandbox", buyer: { evm: { private_key: generatePrivateKey() } } });
      if (method === "server/discover") return json({ jsonrpc: "2.0", id, error: { code: -32601, message: "?" } });
      if (method === "initialize") {
        const { protocolVersion } = params;
        return answer({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "slow", version: "1" } });
      }
      if (method === "tools/list") return answer({ tools: [] });
      if (id === undefined) return void outgoing.writeHead(incoming.method === "POST" ? 202 : 405).end();
      const { progressToken, "x402/payment": payment } = params._meta ?? {};
      tokens.push(progressToken);
      if (payment === undefined) return answer({ isError: true, content: [], structuredContent: CHALLENGE });
      outgoing.writeHead(200, { "content-type": "text/event-stream" });
      const tell = (message: object): void =>
        void outgoing.write(`data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`);
      if (progressToken !== undefined)
        for (const [progress, known] of [
          [1, 1],
          [2, 2],
          [2, 2],
          [1, 2],
          [3, 3],
        ]) {
          tell({ method: "notifications/progress", params: { progressToken, progress, total: 3, message: "at work" } });
          await eventually(() => heard.length === known); // Clients forget what comes together with the result.
        }
      tell({ id, result: RESULT });
      outgoing.end();
    });
    await once(seller.listen(0, "127.0.0.1"), "listening");
    client = await openProxy(`http://127.0.0.1:${(seller.address() as AddressInfo).port}/mcp`, spending);
  });
  beforeEach(() => {
    tokens = [];
    heard = [];
  });
  after(async () => {
    await client.close();
    seller.close();
  });

  it("passes it on to a client that listens, as long as it grows", async () => {
    const options = { onprogress: (progress: Progress) => void heard.push(progress) };
    const answer = await client.callTool({ name: "here", arguments: {} }, options);
    expect(answer).to.deep.include(RESULT);
    expect(heard).to.deep.equal([1, 2, 3].map((progress) => ({ progress, total: 3, message: "at work" })));
  });

  it("asks for none for a client that does not", async () => {
    expect(await client.callTool({ name: "here", arguments: {} })).to.deep.include(RESULT);
    expect(tokens).to.deep.equal([undefined, undefined]);
  });
});
