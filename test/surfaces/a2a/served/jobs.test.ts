import { expect } from "chai";
import { Problem } from "../../../../runtime/api/problem.ts";
import { move } from "../../../support/chains/scripted-rail.ts";
import { eventually } from "../../../support/eventually.ts";
import { type JobShop, openJobShop } from "../../../support/sellers/job-shop.ts";
import type { Loose } from "../../mcp/served/support/stall.ts";
import { CLIENTS, type OfficialClient } from "./support/clients.ts";

const DAY_MS = 86_400_000;
const INPUT = { what: "needle" };

for (const [name, open] of CLIENTS)
  describe(`a job as a task, for the official A2A client ${name}`, () => {
    let shop: JobShop;
    let client: OfficialClient;
    beforeEach(async () => {
      shop = await openJobShop();
      client = await open(shop.url);
    });
    afterEach(() => shop.close());

    const paymentOf = ({ status }: Loose): Loose => status.message.metadata;
    const textOf = ({ status }: Loose): string => {
      const [part] = status.message.parts;
      return part.text ?? part.content.value;
    };
    const buy = async (): Promise<Loose> => {
      const waiting = await client.begin("search", INPUT);
      expect(client.state(waiting)).to.equal("input-required");
      expect(shop.executions).to.equal(0);
      return client.pay(waiting, shop.pay(paymentOf(waiting)["x402.payment.required"]));
    };
    const follow = (id: string, wanted: string): Promise<Loose> =>
      eventually(
        () => client.get(id),
        (task) => client.state(task) === wanted,
      );
    const nameOf = (call: Promise<unknown>): Promise<string> =>
      call.then(
        () => "no error",
        ({ name }: Error) => name,
      );

    it("works once it is paid, says what it is doing, and ends with what was paid for", async () => {
      const begun = await buy();
      expect(client.state(begun)).to.equal("working");
      expect(paymentOf(begun)).to.include({ "x402.payment.status": "payment-completed" });
      expect(paymentOf(begun)["x402.payment.receipts"][0]).to.include({ success: true });
      const { job_id } = begun.metadata;
      expect(begun.metadata).to.deep.equal({ job_id, status_url: `${shop.url}/v1/search/${job_id}`, eta_seconds: 120 });
      expect(textOf(begun)).to.include(job_id).and.include("120 s");

      const running = await eventually(
        () => client.get(begun.id),
        ({ metadata }) => metadata.step !== null,
      );
      expect(client.state(running)).to.equal("working");
      expect(running.metadata).to.include({ job_id, step: "looking around" });
      shop.clock.advance(50_000);
      expect((await client.get(begun.id)).metadata.eta_seconds).to.be.within(60, 70);

      shop.deliver(({ what }) => ({ verdict: `found the ${what}` }));
      const done = await follow(begun.id, "completed");
      expect(client.dataOf(done)).to.deep.equal({ verdict: "found the needle" });
      expect(done.metadata).to.include({ job_id });
      expect(paymentOf(done)).to.include({ "x402.payment.status": "payment-completed" });
      expect(await client.get(begun.id)).to.deep.equal(done);
      expect([shop.executions, shop.rail.moved.size]).to.deep.equal([1, 1]);
    });

    it("works, too, once a settlement is found whose outcome was not known, and is charged once", async () => {
      shop.rail.script.settle = (payment, offer) => {
        shop.rail.script.find = () => {
          throw new Problem("upstream-failed");
        };
        move(shop.rail, payment, offer);
        throw new Problem("settlement-unknown");
      };
      const unknown = await buy();
      expect(client.state(unknown)).to.equal("working");
      expect(paymentOf(unknown)).to.include({ "x402.payment.status": "payment-submitted" });
      expect([unknown.metadata?.job_id, shop.executions]).to.deep.equal([undefined, 0]);
      delete shop.rail.script.find;
      const begun = await eventually(
        () => client.get(unknown.id),
        ({ metadata }) => metadata?.job_id !== undefined,
      );
      expect(paymentOf(begun)).to.include({ "x402.payment.status": "payment-completed" });
      shop.deliver(() => ({ verdict: "found" }));
      expect(client.dataOf(await follow(unknown.id, "completed"))).to.deep.equal({ verdict: "found" });
      expect([shop.executions, shop.rail.moved.size]).to.deep.equal([1, 1]);
    });

    it("is there for as long as its job, and then forgotten", async () => {
      const { id } = await buy();
      shop.clock.advance(80 * DAY_MS);
      expect(client.state(await client.get(id))).to.equal("working");
      shop.clock.advance(11 * DAY_MS);
      expect(await nameOf(client.get(id))).to.match(/TaskNotFound/);
    });

    it("cannot be canceled, nor paid for again, once it has begun", async () => {
      const { id, contextId } = await buy();
      expect(await nameOf(client.cancel(id))).to.match(/TaskNotCancelable/);
      const another = shop.pay(paymentOf(await client.begin("search", INPUT))["x402.payment.required"]);
      shop.clock.advance(2 * DAY_MS);
      expect(client.state(await client.pay({ id, contextId }, another))).to.equal("working");
      expect(shop.rail.moved.size).to.equal(1);
      shop.deliver(() => ({ verdict: "found" }));
      await follow(id, "completed");
      expect(await nameOf(client.cancel(id))).to.match(/TaskNotCancelable/);
      expect(await nameOf(client.pay({ id, contextId }, another))).to.match(/UnsupportedOperation/);
    });

    it("fails with its job, and tells what becomes of its price", async () => {
      const { id } = await buy();
      shop.deliver(() => {
        throw new Error("a secret");
      });
      const failed = await follow(id, "failed");
      expect(textOf(failed)).to.match(/^The job failed: .* Its price is being paid back\.$/);
      expect(JSON.stringify(failed)).not.to.include("a secret");
      shop.refund = { refund_tx: null, refund_pending: "manual" };
      expect(textOf(await client.get(id))).to.match(/has to be paid back by hand\.$/);
      shop.refund = { refund_tx: `0x${"ab".repeat(32)}`, refund_pending: null };
      const refunded = await client.get(id);
      expect(textOf(refunded), "on whatever chain the site pays back").to.match(/price was paid back in 0xabab/);
      expect(refunded.metadata).to.include({ refund_tx: `0x${"ab".repeat(32)}`, refund_pending: null });
      expect(client.state(refunded)).to.equal("failed");
      shop.refund = { refund_tx: null, refund_pending: null, isUndone: true };
      expect(textOf(await client.get(id))).to.match(/undone its payment for good: nothing is owed\.$/);
      expect(client.state(await client.get(id))).to.equal("failed");
    });

    it("tells what was said of its price when it was sold, and what is done where it was withdrawn", async () => {
      const { id, metadata } = await buy();
      const { job_id } = metadata;
      await shop.store.set(`job:${job_id}`, { ...(await shop.store.get<object>(`job:${job_id}`)), refund: false });
      const end = { state: "FAILED", at: shop.clock.now(), error: "It is gone" };
      await shop.store.set(`job-end:${job_id}`, end);
      expect(textOf(await client.get(id))).to.equal("The job failed: It is gone. Its price is not paid back.");
      await shop.store.set(`job-end:${job_id}`, { ...end, isWithdrawn: true });
      expect(textOf(await client.get(id))).to.equal("The job failed: It is gone. Its price is being paid back.");
    });

    it("may be free: it works without a payment, and cannot be canceled either", async () => {
      const begun = await client.begin("errand", INPUT);
      expect(client.state(begun)).to.equal("working");
      expect(await nameOf(client.cancel(begun.id))).to.match(/TaskNotCancelable/);
      shop.deliver(() => ({ verdict: "done" }));
      expect(client.dataOf(await follow(begun.id, "completed"))).to.deep.equal({ verdict: "done" });
    });
  });

describe("the door between agents", () => {
  it("answers 429 to whoever asks for the task of one job too often", async () => {
    const shop = await openJobShop();
    try {
      const call = (method: string, params: object): Promise<Response> =>
        shop.post("/v1/a2a", { jsonrpc: "2.0", id: 1, method, params });
      const parts = [{ kind: "data", data: { skill: "errand", input: INPUT } }];
      const begun = (await (
        await call("message/send", { message: { messageId: "m", role: "user", parts } })
      ).json()) as Loose;
      const { id, metadata } = begun.result;
      await Promise.all(Array.from({ length: 120 }, () => fetch(metadata.status_url)));
      const refused = await call("tasks/get", { id });
      expect(refused.status).to.equal(429);
      expect(Number(refused.headers.get("retry-after"))).to.be.within(1, 60);
      expect(((await refused.json()) as Loose).error).to.include({ code: -42901 });
    } finally {
      await shop.close();
    }
  });
});
