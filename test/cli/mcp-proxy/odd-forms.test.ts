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
const RECEIPT = { "x402/payment-response": { success: true, transaction: "0xab", network: USDC_OFFER.network } };
const TEXT = { type: "text", text: "here" };

describe("payphone mcp-proxy, at a seller whose answers do not fit MCP,", () => {
  let seller: Server;
  let client: Client;
  let payments: number;
  /** The answer to a paid call. */
  let paid: object;
  let tools: readonly object[];
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
        const capabilities = { tools: { listChanged: null }, prompts: null };
        return answer({ protocolVersion, capabilities, serverInfo: { name: "odd", version: "1", title: null } });
      }
      if (method === "tools/list") return answer({ tools, nextCursor: null });
      if (id === undefined) return void outgoing.writeHead(incoming.method === "POST" ? 202 : 405).end();
      if (params._meta?.["x402/payment"] === undefined)
        return answer({ isError: true, content: [TEXT], structuredContent: CHALLENGE });
      payments += 1;
      answer(paid);
    });
    await once(seller.listen(0, "127.0.0.1"), "listening");
    client = await openProxy(`http://127.0.0.1:${(seller.address() as AddressInfo).port}/mcp`, spending);
  });
  beforeEach(() => {
    [payments, tools] = [0, [{ name: "here", inputSchema: { type: "object" } }]];
  });
  after(async () => {
    await client.close();
    seller.close();
  });

  const call = (): ReturnType<Client["callTool"]> => client.callTool({ name: "here", arguments: {} });

  it("hands on what was paid for without the members that are null", async () => {
    const block = { ...TEXT, annotations: null, _meta: null };
    paid = { content: [block], structuredContent: null, isError: null, _meta: RECEIPT };
    expect(await call()).to.deep.equal({ content: [TEXT], _meta: RECEIPT });
    expect(payments).to.equal(1);
  });

  it("hands on what was paid for as text where no client would read it", async () => {
    const content = [{ type: "json", json: { rolled: 4 } }];
    for (const answered of [{ content }, { content: "here" }, { content, isError: true }]) {
      paid = { ...answered, _meta: RECEIPT };
      const { content: said, isError = false, _meta } = await call();
      expect(said).to.deep.equal([{ type: "text", text: JSON.stringify(answered) }]);
      expect({ isError, _meta }).to.deep.equal({ isError: "isError" in answered, _meta: RECEIPT });
    }
    expect(payments).to.equal(3);
    const structuredContent = { rolled: 4 };
    paid = { content, structuredContent };
    expect(await call(), "for clients that hold it to the tool's schema").to.deep.include({ structuredContent });
  });

  it("shows its other tools, and leaves out those that are none", async () => {
    const own = { description: null, annotations: null };
    tools = [{ name: "none" }, { name: "here", ...own, inputSchema: { type: "object" } }, { inputSchema: {} }];
    expect((await client.listTools()).tools).to.deep.equal([{ name: "here", inputSchema: { type: "object" } }]);
  });
});
