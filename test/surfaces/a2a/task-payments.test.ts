import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import { createRefundRecords } from "../../../runtime/core/refunds/records.ts";
import { isAway, refuses } from "../../support/chains/scripted-rail.ts";
import type { Loose } from "../mcp/served/support/stall.ts";
import { KEY, metadataOf, stageTasks } from "../support/task-stage.ts";

describe("a task", () => {
  const stage = stageTasks();
  const { begin, submit, get, pay } = stage;

  describe("whose payment is refused", () => {
    const refused = async (
      payment: unknown,
      code: string,
      change: (task: Loose) => void = () => {},
    ): Promise<Loose> => {
      const task = await begin("roll");
      change(task);
      const { result } = await submit(task.id, typeof payment === "function" ? payment(task) : payment);
      expect(result.status.state).to.equal("input-required");
      const metadata = metadataOf(result);
      expect(metadata[KEY("status")]).to.equal("payment-failed");
      expect(metadata[KEY("error")]).to.equal(code);
      expect(metadata[KEY("required")].accepts).to.have.length(2);
      expect(stage.door.executions).to.equal(0);
      return result;
    };
    const rejecting = (invalidReason: string) => () => {
      stage.door.rails.base.script.verify = () => ({ isValid: false, invalidReason });
    };

    const payments: readonly [what: string, payment: unknown, code: string][] = [
      ["it is an empty object", {}, "INVALID_SIGNATURE"],
      ["it is no payment", "!!!", "INVALID_SIGNATURE"],
      ["it is a number", 5, "INVALID_SIGNATURE"],
      ["it is of version 3", (task: Loose) => ({ ...pay(task), x402Version: 3 }), "INVALID_SIGNATURE"],
      [
        "it is on another network",
        (task: Loose) => pay(task, (offer) => ({ ...offer, network: "eip155:1" })),
        "NETWORK_MISMATCH",
      ],
      [
        "it is of another amount",
        (task: Loose) => pay(task, (offer) => ({ ...offer, amount: "999" })),
        "INVALID_AMOUNT",
      ],
      ["it has run out", (task: Loose) => expired(pay(task)), "EXPIRED_PAYMENT"],
    ];
    for (const [what, payment, code] of payments)
      it(`says so when ${what}`, async () => {
        const { text } = (await refused(payment, code)).status.message.parts[0];
        const cost =
          code === "EXPIRED_PAYMENT" ? /; this call was not charged, but an earlier one/ : /; nothing was charged\.$/;
        expect(text).to.match(cost);
      });

    const reasons: readonly [reason: string, code: string][] = [
      ["insufficient_funds", "INSUFFICIENT_FUNDS"],
      ["invalid_exact_evm_payload_signature", "INVALID_SIGNATURE"],
      ["invalid_exact_evm_nonce_already_used", "DUPLICATE_NONCE"],
      ["invalid_exact_evm_payload_authorization_valid_before", "EXPIRED_PAYMENT"],
      ["blocked_by_policy", "SETTLEMENT_FAILED"],
    ];
    for (const [reason, code] of reasons)
      it(`says ${code} when the facilitator says ${reason}`, async () => {
        const result = await refused((task: Loose) => pay(task), code, rejecting(reason));
        expect(result.status.message.parts[0].text)
          .to.include(reason)
          .and.match(/EXPIRED|DUPLICATE/.test(code) ? /not charged, but an earlier one/ : /nothing was charged/);
      });

    /** A task of a payer who pays first, whose service fails; and its payment. */
    const payFirst = async (failure: Problem): Promise<[task: Loose, payment: object]> => {
      const first = await begin("roll");
      const payAsOne = (task: Loose): object => {
        const payment = pay(task) as Loose;
        payment.payload.authorization.from = "0x3333333333333333333333333333333333333333";
        return payment;
      };
      stage.door.rails.base.script.settle = refuses();
      await submit(first.id, payAsOne(first)); // Who had work done and did not pay, pays first from now on.
      stage.door.rails.base.script = {};
      stage.door.handler = () => {
        throw failure;
      };
      const task = await begin("roll");
      const payment = payAsOne(task);
      return [(await submit(task.id, payment)).result, payment];
    };

    /** The ids of a context's tasks when its unpaid ones are forgotten. */
    const listedLater = async ({ contextId }: Loose): Promise<string[]> => {
      stage.door.clock.advance(2 * 60 * 60_000);
      const { result } = await stage.door.call("ListTasks", { contextId });
      return result.tasks.map(({ id }: Loose) => id);
    };

    it("goes on working when it was paid first and the service failed, until that delivers", async () => {
      const [result, payment] = await payFirst(new Problem("upstream-failed", "The dice fell off the table"));
      expect(result.status.state).to.equal("working");
      expect(result.status.message.parts[0].text).to.match(/at no further charge.*Ask for this task again/);
      expect(metadataOf(result)[KEY("receipts")], "the money has moved").to.have.length(1);
      stage.door.handler = undefined;
      const copy = await begin("roll");
      expect((await submit(copy.id, payment)).result.status.state, "delivered elsewhere").to.equal("completed");
      const { result: done } = await get(result.id);
      expect(done.status.state).to.equal("completed");
      expect(metadataOf(done)[KEY("receipts")]).to.have.length(1);
      expect(metadataOf(done)[KEY("receipts")][0]).to.include({ success: true });
      expect(stage.door.rails.base.moved.size).to.equal(1);
      expect(await listedLater(done), "with what was paid for").to.deep.equal([done.id]);
    });

    it("has failed when it was paid first and is paid back, and says so with its receipt", async () => {
      const [result] = await payFirst(new Problem("nothing-found", "There are no dice"));
      expect(result.status.state).to.equal("failed");
      const [{ text }, { data }] = result.status.message.parts;
      expect(text).to.match(
        /^The payment was settled, and the service failed: There are no dice\. It has to be paid back/,
      );
      expect(data).to.include({ code: "paid-not-delivered", refund_pending: "manual" });
      expect(metadataOf(result)[KEY("status")]).to.equal("payment-completed");
      expect(metadataOf(result)[KEY("receipts")][0]).to.include({ success: true });
      expect((await get(result.id)).result, "asked for again").to.deep.equal(result);
      expect(await listedLater(result), "with what was paid for").to.deep.equal([result.id]);
    });

    it("says by which transaction it was paid back, once that is known, and has failed all the while", async () => {
      const [{ id }] = await payFirst(new Problem("nothing-found", "There are no dice"));
      const { entries, putIfAbsent, delete: release } = stage.door.store;
      const leases = [...entries.keys()].map((key) => key.replace(/^payment:/, "lease:"));
      for (const lease of leases) await putIfAbsent(lease, 1, 60_000);
      const states = (await Promise.all([get(id), get(id)])).map(({ result }) => result.status.state);
      for (const lease of leases) if (lease.startsWith("lease:")) await release(lease);
      const records = createRefundRecords(stage.door.store);
      for await (const refund of records.list())
        await records.end(refund, { transaction: "0xbacc", at: stage.door.clock.now() });
      for (let times = 0; times < 2; times += 1) {
        const { result } = await get(id);
        const [{ text }, { data }] = result.status.message.parts;
        expect(text).to.match(/There are no dice\. It was paid back in 0xbacc\.$/);
        expect(data).to.include({ refund_tx: "0xbacc", refund_pending: null });
        states.push(result.status.state);
      }
      expect(states).to.deep.equal(["failed", "failed", "failed", "failed"]);
    });

    it("withholds the result when the settlement fails, and keeps the receipt of it", async () => {
      const task = await begin("roll");
      stage.door.handler = () => ({ value: 424242 });
      stage.door.rails.base.script.settle = refuses();
      const { result } = await submit(task.id, pay(task));
      expect(metadataOf(result)[KEY("error")]).to.equal("INSUFFICIENT_FUNDS");
      expect(metadataOf(result)[KEY("receipts")]).to.have.length(1);
      expect(metadataOf(result)[KEY("receipts")][0]).to.include({ success: false, errorReason: "insufficient_funds" });
      expect(JSON.stringify(result)).not.to.include("424242");
      stage.door.rails.base.script = {};
      const { result: paid } = await submit(task.id, pay(task));
      expect(metadataOf(paid)[KEY("receipts")].map(({ success }: Loose) => success)).to.deep.equal([false, true]);
    });

    it("is still good for another payment", async () => {
      const task = await refused(
        (waiting: Loose) => pay(waiting, (offer) => ({ ...offer, amount: "999" })),
        "INVALID_AMOUNT",
      );
      expect((await submit(task.id, pay(task))).result.status.state).to.equal("completed");
    });

    it("cannot be bought with a payment for another service, or with one that bought another call", async () => {
      const twin = await begin("twin");
      await refused(() => pay(twin), "INVALID_AMOUNT");
      const [first, second] = [await begin("roll"), await begin("roll", { low: 2, high: 6 })];
      const payment = pay(first);
      expect((await submit(first.id, payment)).result.status.state).to.equal("completed");
      const { result } = await submit(second.id, payment);
      expect(metadataOf(result)[KEY("error")]).to.equal("DUPLICATE_NONCE");
      expect(result.status.state).to.equal("input-required");
      expect(stage.door.executions).to.equal(1);
    });
  });

  describe("whose payment has no known outcome", () => {
    const unknown = (): void => {
      stage.door.rails.base.script.settle = isAway;
      stage.door.rails.base.script.find = () => ({ state: "open" });
    };

    it("is working, and never asks for another payment", async () => {
      unknown();
      const task = await begin("roll");
      const { result } = await submit(task.id, pay(task));
      expect(result.status.state).to.equal("working");
      expect(metadataOf(result)).to.deep.equal({ [KEY("status")]: "payment-submitted" });
      expect(result.status.message.parts[0].text).to.match(/do not pay again/);
      expect((await get(task.id)).result.status.state).to.equal("working");
      const other = await submit(task.id, pay(task));
      expect(other.error.code, "a second payment").to.equal(-32004);
      expect((await stage.door.call("tasks/cancel", { id: task.id })).error.code).to.equal(-32002);
    });

    it("is completed by asking for it, once the money has moved", async () => {
      unknown();
      const task = await begin("roll", { low: 5, high: 6 });
      await submit(task.id, pay(task));
      stage.door.rails.base.script.find = () => ({ state: "settled", transaction: "0xfeed" });
      const { result } = await get(task.id);
      expect(result.status.state).to.equal("completed");
      expect(result.artifacts[0].parts[0].data).to.deep.equal({ value: 5 });
      expect(metadataOf(result)[KEY("receipts")][0]).to.include({ success: true, transaction: "0xfeed" });
      expect(stage.door.executions).to.equal(1);
    });

    it("is found for a day by its payment, where it could not be noted that this was sent", async () => {
      unknown();
      const task = await begin("roll", { low: 5, high: 6 });
      const { set } = stage.door.store;
      stage.door.store.set = (key, ...rest) =>
        key.includes(task.id) ? Promise.reject(new Error()) : set(key, ...rest);
      await submit(task.id, pay(task));
      stage.door.store.set = set;
      stage.door.clock.advance(23 * 3_600_000);
      stage.door.rails.base.script.find = () => ({ state: "settled", transaction: "0xfeed" });
      const { result } = await get(task.id);
      expect(result.status.state).to.equal("completed");
      expect(result.artifacts[0].parts[0].data).to.deep.equal({ value: 5 });
    });

    it("waits for another payment, once it is known that this one is dead", async () => {
      unknown();
      const task = await begin("roll");
      await submit(task.id, pay(task));
      stage.door.rails.base.script.find = () => ({ state: "dead" });
      const { result } = await get(task.id);
      expect(result.status.state).to.equal("input-required");
      expect(metadataOf(result)[KEY("status")]).to.equal("payment-failed");
      stage.door.rails.base.script = {};
      expect((await submit(task.id, pay(result))).result.status.state).to.equal("completed");
    });
  });
});

function expired(payment: Loose): Loose {
  const { authorization } = payment.payload;
  return { ...payment, payload: { ...payment.payload, authorization: { ...authorization, validBefore: "1" } } };
}
