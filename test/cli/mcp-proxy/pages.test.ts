import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { expect } from "chai";
import { createFolder } from "../../support/folder.ts";
import { USDC_OFFER } from "../call/seller.ts";
import { openProxy } from "./proxy.ts";

const FIELDS = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

describe("payphone mcp-proxy, before a tool on a later page of the list", () => {
  it("refuses arguments that do not fit its schema, and pays nothing", async () => {
    const paid: unknown[] = [];
    const seller = createServer(async (incoming, outgoing) => {
      const { id, method, params } = JSON.parse((await buffer(incoming)).toString() || "{}");
      const answer = (result: object): void =>
        void outgoing
          .writeHead(200, { "content-type": "application/json" })
          .end(JSON.stringify({ jsonrpc: "2.0", id, result }));
      if (method === "initialize") {
        const { protocolVersion } = params;
        return answer({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "pages", version: "1" } });
      }
      if (method === "server/discover") return void outgoing.writeHead(404).end();
      if (id === undefined) return void outgoing.writeHead(incoming.method === "POST" ? 202 : 405).end();
      if (method === "tools/list")
        return answer(
          params?.cursor ? { tools: [{ name: "last", inputSchema: FIELDS }] } : { tools: [], nextCursor: "2" },
        );
      const payment = params._meta?.["x402/payment"];
      if (payment !== undefined) paid.push(payment);
      const resource = { url: "https://seller.example/" };
      answer({ isError: true, content: [], structuredContent: { x402Version: 2, resource, accepts: [USDC_OFFER] } });
    });
    await once(seller.listen(0, "127.0.0.1"), "listening");
    const spending = createFolder();
    const client = await openProxy(`http://127.0.0.1:${(seller.address() as AddressInfo).port}/mcp`, spending);

    const { content } = await client.callTool({ name: "last", arguments: { citty: "Rome" } });
    expect(content)
      .to.have.nested.property("[0].text")
      .that.matches(/body\.city: Field required\n {2}body\.citty: .*"city"\?\nNothing was paid\.$/);
    expect(paid).to.deep.equal([]);

    await client.close();
    seller.close();
  });
});
