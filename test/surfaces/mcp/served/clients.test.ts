import { expect } from "chai";
import { createMcp } from "../../../../runtime/surfaces/mcp/mcp.ts";
import { CONFIGURATIONS, type OfficialClient } from "./support/clients.ts";
import { type Served, serve } from "./support/serve.ts";
import { type Loose, openStall, type Stall, toPayment } from "./support/stall.ts";

describe("the official client", () => {
  let stall: Stall;
  let served: Served;
  before(async () => {
    stall = await openStall();
    served = await serve((baseUrl) => createMcp({ ...stall.parts, baseUrl, loopback: true }));
  });
  after(async () => {
    await served.close();
    stall.close();
  });

  let nonce = 1000;
  const pay = ({ resource, accepts }: Loose): object => {
    nonce += 1;
    return toPayment(accepts[0], nonce, resource);
  };

  for (const { name, version, connect } of CONFIGURATIONS) {
    describe(name, () => {
      let client: OfficialClient;
      let first: number;
      before(async () => {
        first = served.seen.length;
        client = await connect(served.url);
      });
      after(() => client.close());

      it(`agrees with us on ${version}, and sends it from then on`, async () => {
        await client.listTools();
        const { headers, body } = served.seen.findLast(({ method }) => method === "POST") as Loose;
        expect(headers["mcp-protocol-version"]).to.equal(version);
        expect(JSON.parse(body).method).to.equal("tools/list");
      });

      it("knows who we are and how to pay", () => {
        expect(client.getServerVersion()).to.include({ name: "payphone", version: "0.3.0" });
        expect(client.getInstructions()).to.match(/x402/);
      });

      it("reads our tools, with schemas that it can compile and what they cost", async () => {
        const { tools } = await client.listTools();
        expect(tools.map((tool: Loose) => tool.name)).to.deep.equal(["roll", "echo", "seal", "free"]);
        expect(tools[0].annotations).to.include({ readOnlyHint: true, openWorldHint: false });
        if (version > "2025-03-26") expect(tools[2]._meta).to.include({ "agents-x402/priceUSD": 1.77 });
      });

      it("gets the challenge of an unpaid call whole, though it holds results to their schemas", async () => {
        await client.listTools();
        const result = await client.callTool({ name: "roll", arguments: { low: 1, high: 6 } });
        expect(result.isError).to.equal(true);
        expect(result.content[0].text).to.match(/^This tool costs 0.001 USD a call; nothing was charged\. /);
        expect(result.structuredContent).to.deep.equal(result._meta["x402/error"]);
        expect(result.structuredContent.accepts).to.have.length(2);
      });

      it("gets the faults of refused arguments as a result", async () => {
        const challenge = (await client.callTool({ name: "roll", arguments: { low: 1, high: 6 } }))._meta["x402/error"];
        const _meta = { "x402/payment": pay(challenge) };
        const result = await client.callTool({ name: "roll", arguments: { low: "one" }, _meta });
        expect(result.isError).to.equal(true);
        expect(JSON.parse(result.content[0].text).detail).to.have.length(2);
      });

      it("is told when there is no such tool", async () => {
        const failure = await client.callTool({ name: "nope" }).catch((error: unknown) => error);
        expect(failure).to.include({ code: -32602 });
      });

      it("pings us where its version has pings", async () => {
        if (version !== "2026-07-28") expect(await client.ping?.()).to.deep.equal({});
      });

      it("was answered with 200 or 202 whenever it posted, and with 405 whenever it did not", () => {
        const exchanges = served.seen.slice(first);
        expect(exchanges.length).to.be.above(5);
        for (const { method, status } of exchanges)
          expect(status, method).to.be.oneOf(method === "POST" ? [200, 202] : [405]);
      });
    });
  }
});
