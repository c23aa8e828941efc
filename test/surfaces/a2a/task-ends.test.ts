import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import { isAway } from "../../support/chains/scripted-rail.ts";
import type { Loose } from "../mcp/served/support/stall.ts";
import { INPUT, KEY, metadataOf, stageTasks } from "../support/task-stage.ts";
import { manifestOf, openDoor } from "./served/support/door.ts";

describe("a task", () => {
  const stage = stageTasks();
  const { send, begin, submit, get, pay } = stage;

  describe("that cannot be done", () => {
    it("is rejected for its input before anybody is asked or charged, and the payment stays good", async () => {
      const task = await begin("roll", { low: 6, high: 1 });
      const payment = pay(task);
      const { result } = await submit(task.id, payment);
      expect(result.status.state).to.equal("rejected");
      expect(result.status.message.parts[1].data.detail[0].msg).to.match(/high must not be below low/);
      expect(metadataOf(result)[KEY("status")]).to.equal("payment-failed");
      expect(stage.door.rails.base.asked).to.include({ verify: 0, settle: 0 });
      const other = await begin("roll");
      expect((await submit(other.id, payment)).result.status.state).to.equal("completed");
    });

    it("fails with its handler, is not charged, and says when to come back", async () => {
      stage.door.handler = () => {
        throw new Problem("upstream-failed", "The dice fell off the table", { retryAfter: 7 });
      };
      const task = await begin("roll");
      const { result } = await submit(task.id, pay(task));
      expect(result.status.state).to.equal("failed");
      const [text, { data: problem }] = result.status.message.parts;
      expect(text.text).to.match(/^The task failed: The dice fell off the table\. Nothing was charged\.$/);
      expect(problem).to.include({ code: "upstream-failed", retry_after: 7 });
      expect(stage.door.rails.base.asked.settle).to.equal(0);
    });

    it("goes on waiting when the facilitator is away, for the same payment too", async () => {
      const task = await begin("roll");
      const payment = pay(task);
      stage.door.rails.base.script.verify = isAway;
      const { result } = await submit(task.id, payment);
      expect(result.status.state).to.equal("input-required");
      expect(metadataOf(result)[KEY("status")]).to.equal("payment-required");
      stage.door.rails.base.script = {};
      expect((await submit(task.id, payment)).result.status.state).to.equal("completed");
    });

    it("is not begun while no rail is up: a priced service is never free", async () => {
      const down = await openDoor({ down: true });
      const message = {
        messageId: "m",
        role: "user",
        parts: [{ kind: "data", data: { skill: "roll", input: INPUT } }],
      };
      const { error } = await down.call("message/send", { message });
      expect(error.code).to.equal(-50303);
      expect(down.executions).to.equal(0);
      down.close();
    });

    it("is still shown when no rail is up any more, without a challenge", async () => {
      const task = await begin("roll");
      const down = await openDoor({ down: true, store: stage.door.store });
      const { result } = await down.call("tasks/get", { id: task.id });
      expect(result.status.state).to.equal("input-required");
      expect(metadataOf(result)).to.deep.equal({ [KEY("status")]: "payment-required" });
      down.close();
    });

    it("is shown with the price that it has by now", async () => {
      const task = await begin("roll");
      const dearer = await openDoor({ store: stage.door.store, manifests: [manifestOf("roll", { price: "0.002" })] });
      const { result } = await dearer.call("tasks/get", { id: task.id });
      expect(result.status.message.parts[0].text).to.match(/^Payment is required: 0\.002 USD/);
      expect(metadataOf(result)[KEY("required")].accepts[0].amount).to.equal("2000");
      dearer.close();
    });

    it("is rejected when its skill is not offered any more", async () => {
      const task = await begin("twin");
      const later = await openDoor({
        store: stage.door.store,
        manifests: stage.door.services.map(({ manifest }) => manifest).slice(0, 1),
      });
      const message = { messageId: "m", role: "user", taskId: task.id, metadata: { [KEY("payload")]: pay(task) } };
      const { result } = await later.call("message/send", { message });
      expect(result.status.state).to.equal("rejected");
      expect(result.status.message.parts[0].text).to.match(/not offered any more/);
      later.close();
    });
  });

  describe("that is worked on", () => {
    it("is shown as working, takes no other payment, and cannot be canceled", async () => {
      const started = Promise.withResolvers<void>();
      const go = Promise.withResolvers<void>();
      stage.door.handler = async ({ low }) => {
        started.resolve();
        await go.promise;
        return { value: low };
      };
      const task = await begin("roll");
      const payment = pay(task);
      const paid = submit(task.id, payment);
      await started.promise;
      expect((await get(task.id)).result.status.state).to.equal("working");
      expect((await submit(task.id, payment)).result.status.state, "the same payment again").to.equal("working");
      const asked = await stage.send({ taskId: task.id, parts: [{ kind: "text", text: "Is it ready?" }] });
      expect(asked.result.status.state, "a message without a payment").to.equal("working");
      expect(metadataOf(asked.result)).not.to.have.property(KEY("required"));
      expect((await submit(task.id, pay(task))).error.code).to.equal(-32004);
      expect((await stage.door.call("tasks/cancel", { id: task.id })).error.code).to.equal(-32002);
      go.resolve();
      expect((await paid).result.status.state).to.equal("completed");
      expect(stage.door.executions).to.equal(1);
    });

    it("is executed and charged once, when fifty payments for it come at once", async () => {
      const task = await begin("roll");
      const payments = Array.from({ length: 50 }, () => pay(task));
      const answers = await Promise.all(payments.map((payment) => submit(task.id, payment)));
      expect(answers.filter(({ result }) => result?.status.state === "completed")).to.have.length(1);
      expect(stage.door.executions).to.equal(1);
      expect(stage.door.rails.base.moved.size).to.equal(1);
    });

    it("goes on after a crash, for whoever asks for it", async () => {
      const task = await begin("roll", { low: 6, high: 6 });
      await stage.door.store.putIfAbsent(`a2a:bond:${task.id}`, { payment: pay(task) }); // All that a crash has left behind.
      const { result } = await get(task.id);
      expect(result.status.state).to.equal("completed");
      expect(result.artifacts[0].parts[0].data).to.deep.equal({ value: 6 });
    });

    it("is answered, and not written off as unpaid, when only its end could not be written down", async () => {
      const task = await begin("roll");
      const payment = pay(task);
      const { set } = stage.door.store;
      stage.door.store.set = (key, value, ttl) =>
        key === `a2a:task:${task.id}`
          ? Promise.reject(new Problem("unavailable", "The store is full"))
          : set(key, value, ttl);
      const { result } = await submit(task.id, payment);
      expect([result.status.state, result.artifacts[0].parts[0].data]).to.deep.equal(["completed", { value: 1 }]);
      expect(metadataOf(result)[KEY("receipts")][0].success).to.equal(true);
      stage.door.store.set = set;
      expect((await submit(task.id, pay(task))).error.code, "another payment").to.equal(-32004);
      expect((await get(task.id)).result.status.state).to.equal("completed");
      expect([stage.door.executions, stage.door.rails.base.moved.size]).to.deep.equal([1, 1]);
    });

    it("is stopped and not charged when its caller goes away", async () => {
      const gone = new AbortController();
      stage.door.handler = () => {
        gone.abort();
        return new Promise(() => {});
      };
      const task = await begin("roll");
      const message = { messageId: "m", role: "user", taskId: task.id, metadata: { [KEY("payload")]: pay(task) } };
      const request = { jsonrpc: "2.0", id: 1, method: "message/send", params: { message } };
      const { body } = await stage.door.post(request, {}, { signal: gone.signal });
      expect(body.result.status.state).to.equal("input-required");
      expect(body.result.status.message.parts[1]?.data).to.include({ code: "unavailable" });
      expect(metadataOf(body.result)).to.deep.equal({ [KEY("status")]: "payment-submitted" });
      expect(stage.door.rails.base.asked.settle).to.equal(0);
      expect((await submit(task.id, pay(task))).error.code, "another payment").to.equal(-32004);
      expect((await send({ taskId: task.id })).result, "no offer of another one").to.deep.equal(body.result);
      stage.door.handler = undefined;
      expect((await get(task.id)).result.status.state).to.equal("completed");
      expect(stage.door.rails.base.moved.size).to.equal(1);
    });
  });

  describe("that has ended", () => {
    const ends: readonly [state: string, end: () => Promise<Loose>][] = [
      ["completed", () => begin("free")],
      ["rejected", () => begin("free", {})],
      ["canceled", async () => (await stage.door.call("tasks/cancel", { id: (await begin("roll")).id })).result],
    ];
    for (const [state, end] of ends)
      it(`is ${state}: it takes no more messages, and is not canceled`, async () => {
        const task = await end();
        expect(task.status.state).to.equal(state);
        const { error } = await send({
          taskId: task.id,
          parts: [{ kind: "data", data: { skill: "free", input: INPUT } }],
        });
        expect(error.code).to.equal(-32004);
        expect(error.message).to.match(new RegExp(`is ${state} and takes no more messages`));
        expect((await stage.door.call("tasks/cancel", { id: task.id })).error.code).to.equal(-32002);
        expect((await get(task.id)).result.status.state).to.equal(state);
      });

    it("is shown again to the payment that has bought it, whose answer may be lost, and to no other", async () => {
      const task = await begin("roll");
      const payment = pay(task);
      const { result } = await submit(task.id, payment);
      expect(result.status.state).to.equal("completed");
      expect((await submit(task.id, payment)).result).to.deep.equal(result);
      const [sorted, text] = [Object.fromEntries(Object.entries(payment).reverse()), JSON.stringify(payment)];
      for (const form of [sorted, Buffer.from(text).toString("base64")])
        expect((await submit(task.id, form)).result, "in another form").to.deep.equal(result);
      expect((await submit(task.id, pay(task))).error.code).to.equal(-32004);
      expect([stage.door.executions, stage.door.rails.base.moved.size]).to.deep.equal([1, 1]);
    });

    it("is delivered again as a new task with the same payment, also while no rail is up", async () => {
      const task = await begin("roll");
      const payment = pay(task);
      const { result } = await submit(task.id, payment);
      const down = await openDoor({ down: true, store: stage.door.store });
      const message = {
        messageId: "m",
        role: "user",
        metadata: { [KEY("payload")]: payment },
        parts: [{ data: { skill: "roll", input: INPUT } }],
      };
      const { result: again } = await down.call("message/send", { message });
      expect(again.status.state).to.equal("completed");
      expect(again.artifacts[0].parts).to.deep.equal(result.artifacts[0].parts);
      expect(down.executions).to.equal(0);
      down.close();
    });

    it("is canceled by a client that rejects the payment", async () => {
      const task = await begin("roll");
      const { result } = await send({ taskId: task.id, metadata: { [KEY("status")]: "payment-rejected" } });
      expect(result.status.state).to.equal("canceled");
      expect(metadataOf(result)).to.deep.equal({ [KEY("status")]: "payment-rejected", [KEY("receipts")]: [] });
      expect((await submit(task.id, pay(task))).error.code).to.equal(-32004);
    });

    it("is forgotten after a quarter of an hour, and after a day when it was paid", async () => {
      const waiting = await begin("roll");
      const paid = await begin("roll");
      await submit(paid.id, pay(paid));
      stage.door.clock.advance(16 * 60_000);
      expect((await get(waiting.id)).error.code).to.equal(-32001);
      stage.door.clock.advance(23 * 3_600_000);
      expect((await get(paid.id)).result.status.state).to.equal("completed");
      stage.door.clock.advance(3_600_000);
      expect((await get(paid.id)).error.code).to.equal(-32001);
    });
  });
});
