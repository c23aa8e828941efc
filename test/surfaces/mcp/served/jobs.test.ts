import { expect } from "chai";
import { eventually } from "../../../support/eventually.ts";
import { type JobShop, openJobShop } from "../../../support/sellers/job-shop.ts";
import { CONFIGURATIONS, type OfficialClient } from "./support/clients.ts";
import type { Loose } from "./support/stall.ts";

const INPUT = { what: "needle" };

for (const { name, version, connect } of CONFIGURATIONS)
  describe(`a job as a tool, for the official MCP client ${name}`, () => {
    let shop: JobShop;
    let client: OfficialClient;
    beforeEach(async () => {
      shop = await openJobShop();
      client = await connect(`${shop.url}/mcp`);
    });
    afterEach(async () => {
      await client.close();
      await shop.close();
    });

    const answerOf = ({ content }: Loose): Loose => JSON.parse(content[0].text);
    const call = (name: string, args: object, meta?: object): Promise<Loose> =>
      client.callTool({ name, arguments: args, ...(meta && { _meta: meta }) });

    it("is listed with the free tool that follows it, and each says how to go on", async () => {
      const { tools } = await client.listTools();
      expect(tools.map((tool: Loose) => tool.name)).to.deep.equal([
        "search",
        "search_status",
        "errand",
        "errand_status",
      ]);
      const [search, status] = tools;
      expect(search.description).to.match(
        /Costs 0\.35 USD .* ask search_status for it, free of charge, .* 120 s\. A job that fails is paid back\.$/,
      );
      expect(status.description).to.match(/job_id.* Free\.$/);
      expect(status.inputSchema.required).to.deep.equal(["job_id"]);
      expect(status.annotations).to.include({ readOnlyHint: true });
      expect(status).not.to.have.property("_meta");
    });

    it("is bought, polled for nothing until it is delivered, and charged once", async () => {
      await client.listTools(); // From here on, the client holds results to their schemas.
      const unpaid = await call("search", INPUT);
      const payment = shop.pay(unpaid._meta["x402/error"]);
      const accepted = await call("search", INPUT, { "x402/payment": payment });
      expect(accepted._meta["x402/payment-response"]).to.include({ success: true });
      const { job_id, status, eta_seconds } = answerOf(accepted);
      expect([status, eta_seconds]).to.deep.equal(["accepted", 120]);

      const poll = (): Promise<Loose> => call("search_status", { job_id }).then(answerOf);
      const running = await eventually(poll, (told) => told.status === "IN_PROGRESS");
      expect(running).to.include({ job_id, step: "looking around", deliverable: null });
      shop.deliver(({ what }) => ({ verdict: `found the ${what}` }));
      const done = await eventually(poll, (told) => told.status === "DELIVERED");
      expect(done.deliverable).to.deep.equal({ verdict: "found the needle" });
      if (version > "2025-03-26")
        expect((await call("search_status", { job_id })).structuredContent).to.deep.equal(done);
      expect(answerOf(await call("search", INPUT, { "x402/payment": payment }))).to.include({ job_id });
      expect([shop.executions, shop.rail.moved.size]).to.deep.equal([1, 1]);
    });

    it("tells why it failed, and what became of the payment", async () => {
      shop.refund = { refund_tx: null, refund_pending: "manual" };
      const payment = shop.pay((await call("search", INPUT))._meta["x402/error"]);
      const { job_id } = answerOf(await call("search", INPUT, { "x402/payment": payment }));
      shop.deliver(() => {
        throw new Error("a secret");
      });
      const failed = await eventually(
        () => call("search_status", { job_id }).then(answerOf),
        (told) => told.status === "FAILED",
      );
      expect(failed).to.include({ refund_pending: "manual", deliverable: null });
      expect(failed.error).to.be.a("string").that.does.not.include("a secret");
    });

    it("is unknown under another id, also under half a character, which no store takes", async () => {
      for (const job_id of ["nobody's", "\ud800"]) {
        const told = answerOf(await call("search_status", { job_id }));
        expect(told).to.include({ status: "UNKNOWN", error: "job_not_found" });
      }
    });
  });
