import { expect } from "chai";
import type { JobService, Service } from "../../../runtime/core/service.ts";
import { toResult } from "../../../runtime/surfaces/a2a/dialects.ts";
import { toAnswered } from "../../../runtime/surfaces/a2a/jobs.ts";
import { toTask } from "../../../runtime/surfaces/a2a/task-book.ts";
import { type Loose, toPayment } from "../mcp/served/support/stall.ts";
import { INPUT, KEY, metadataOf, stageTasks } from "../support/task-stage.ts";
import { BASE_URL, BOUNDLESS, type Door, manifestOf, openDoor } from "./served/support/door.ts";

const TASK_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("a task", () => {
  const stage = stageTasks();
  const { send, begin, submit, get, pay } = stage;

  describe("of a free service", () => {
    it("is completed at once, with the result as an artifact", async () => {
      const task = await begin("free");
      expect(task).to.include({ kind: "task" });
      expect(task.id).to.match(TASK_ID);
      expect(task.contextId).to.match(TASK_ID);
      expect(task.status).to.include({ state: "completed" });
      expect(new Date(task.status.timestamp).getTime()).to.be.closeTo(Date.now(), 60_000);
      expect(task.status.message).to.deep.include({
        kind: "message",
        role: "agent",
        taskId: task.id,
        contextId: task.contextId,
        parts: [{ kind: "text", text: "Done." }],
      });
      expect(task.artifacts).to.deep.equal([
        { artifactId: `${task.id}.result`, name: "free", parts: [{ kind: "data", data: { value: 1 } }] },
      ]);
      expect((await get(task.id)).result).to.deep.equal(task);
    });

    it("is rejected with every fault of its input", async () => {
      const task = await begin("free", { low: "x" });
      expect(task.status.state).to.equal("rejected");
      const [text, data] = task.status.message.parts;
      expect(text.text).to.match(/^The task was rejected: .*Nothing was charged\.$/);
      expect(data.data.detail.map(({ loc }: Loose) => loc.join("."))).to.have.members(["body.low", "body.high"]);
      expect(task).not.to.have.property("artifacts");
    });

    it("fails when its handler does, and keeps what was not expected to itself", async () => {
      stage.door.handler = () => {
        throw new TypeError("a secret");
      };
      const { body, calls } = await stage.door.post({
        jsonrpc: "2.0",
        id: 1,
        method: "message/send",
        params: {
          message: { messageId: "m", role: "user", parts: [{ kind: "data", data: { skill: "free", input: INPUT } }] },
        },
      });
      expect(body.result.status.state).to.equal("failed");
      expect(body.result.status.message.parts[1].data).to.include({ code: "internal" }).and.have.property("request_id");
      expect(JSON.stringify(body)).not.to.include("a secret");
      expect(calls[0]?.service).to.equal("free");
      expect(String(calls[0]?.problem?.options.cause)).to.include("a secret");
    });

    it("takes no payment, and charges none", async () => {
      const payment = toPayment({ ...(metadataOf(await begin("roll"))[KEY("required")].accepts[0] as Loose) }, 1);
      const parts = [{ kind: "data", data: { skill: "free", input: INPUT } }];
      const { result } = await send({ parts, metadata: { [KEY("payload")]: payment } });
      expect(result.status.state).to.equal("completed");
      expect(stage.door.rails.base.asked.verify).to.equal(0);
    });
  });

  describe("of a service that has lost its price", () => {
    const { price: _price, ...free } = manifestOf("roll");
    let later: Door;
    beforeEach(async () => {
      const { store, clock } = stage.door;
      later = await openDoor({ budgets: BOUNDLESS, store, at: clock.now(), manifests: [free] });
    });
    afterEach(() => later.close());
    /** Sends a call and a payment in one message. */
    const sendPaid = async (payment: object, input: object = INPUT): Promise<Loose> => {
      const parts = [{ kind: "data", data: { skill: "roll", input } }];
      const message = { kind: "message", messageId: "m", role: "user", parts, metadata: { [KEY("payload")]: payment } };
      return (await later.call("message/send", { message })).result;
    };

    it("has the stored answer, with its receipt, where its payment has bought that earlier", async () => {
      const task = await begin("roll");
      const payment = pay(task);
      const { result: bought } = await submit(task.id, payment);
      const again = await sendPaid(payment);
      expect(again.status.state).to.equal("completed");
      expect(later.executions, "no second run").to.equal(0);
      expect(metadataOf(again)[KEY("receipts")]).to.deep.equal(metadataOf(bought)[KEY("receipts")]);
    });

    it("is free beside any other payment, which is not charged", async () => {
      const payment = pay(await begin("roll"));
      const task = await sendPaid(payment);
      expect(task.status.state).to.equal("completed");
      expect(task.status.message).not.to.have.property("metadata");
      const refused = await sendPaid(payment, { low: "x" });
      expect(refused.status.state).to.equal("rejected");
      expect(refused.status.message).not.to.have.property("metadata");
      expect(later.rails.base.moved.size).to.equal(0);
      for await (const claim of later.store.keys("a2a:bond:")) expect.fail(`${claim} is kept for a day`);
    });
  });

  describe("of a paid service", () => {
    it("waits for its payment, and says with what it can be paid", async () => {
      const task = await begin("roll");
      expect(task.status.state).to.equal("input-required");
      expect(task.status.message.parts[0].text).to.match(/Payment is required: 0\.001 USD/);
      const metadata = metadataOf(task);
      expect(metadata).to.have.all.keys(KEY("status"), KEY("required"));
      expect(metadata[KEY("status")]).to.equal("payment-required");
      const { x402Version, resource, accepts } = metadata[KEY("required")];
      expect([x402Version, resource.url]).to.deep.equal([2, `${BASE_URL}/v1/a2a`]);
      expect(accepts.map(({ network, amount }: Loose) => [network, amount])).to.deep.equal([
        ["eip155:8453", "1000"],
        ["eip155:137", "100000000000000000"],
      ]);
      expect(stage.door.executions).to.equal(0);
      expect((await get(task.id)).result).to.deep.equal(task);
    });

    it("waits unread: the input is checked when it is paid", async () => {
      expect((await begin("roll", { low: "x" })).status.state).to.equal("input-required");
    });

    it("is completed by a payment, with the artifact and the receipts", async () => {
      const task = await begin("roll", { low: 4, high: 6 });
      const { result } = await submit(task.id, pay(task));
      expect(result).to.include({ id: task.id, contextId: task.contextId });
      expect(result.status.state).to.equal("completed");
      const { [KEY("status")]: status, [KEY("receipts")]: receipts, ...rest } = metadataOf(result);
      expect(status).to.equal("payment-completed");
      expect(receipts).to.have.length(1);
      expect(receipts[0]).to.include({ success: true, network: "eip155:8453" });
      expect(rest).to.deep.equal({});
      expect(result.artifacts[0].parts).to.deep.equal([{ kind: "data", data: { value: 4 } }]);
      expect((await get(task.id)).result).to.deep.equal(result);
      expect(stage.door.executions).to.equal(1);
      expect(stage.door.rails.base.moved.size).to.equal(1);
    });

    it("is paid as base64 text, by a payer of version 1, and in yen", async () => {
      const text = await begin("roll");
      const encoded = Buffer.from(JSON.stringify(pay(text))).toString("base64");
      expect((await submit(text.id, encoded)).result.status.state).to.equal("completed");
      const old = await begin("roll");
      const { payload } = pay(old) as Loose;
      const version1 = { x402Version: 1, scheme: "exact", network: "base", payload };
      expect((await submit(old.id, version1)).result.status.state).to.equal("completed");
      const yen = await begin("roll");
      const { accepts, resource } = metadataOf(yen)[KEY("required")];
      const { result } = await submit(yen.id, stage.door.pay({ accepts: [accepts[1]], resource }));
      expect(metadataOf(result)[KEY("receipts")][0]).to.include({ success: true, network: "eip155:137" });
    });

    it("is completed at once, when the payment came with the first message", async () => {
      const payment = pay(await begin("roll"));
      const parts = [{ kind: "data", data: { skill: "roll", input: { low: 3, high: 6 } } }];
      const { result } = await send({ parts, metadata: { [KEY("payload")]: payment } });
      expect(result.status.state).to.equal("completed");
      expect(result.artifacts[0].parts[0].data).to.deep.equal({ value: 3 });
    });

    it("needs its task or its skill beside a payment, and says so instead of chatting", async () => {
      const payment = { [KEY("status")]: "payment-submitted", [KEY("payload")]: pay(await begin("roll")) };
      for (const parts of [[{ kind: "text", text: "Here is the payment." }], []]) {
        const { error } = await stage.send({ parts, metadata: payment });
        expect(error).to.include({ code: -32602 });
        expect(error.message).to.match(/ A payment for a task needs its taskId\.$/);
      }
    });

    it("shows its result as text, where it is no object and the dialect's data must be one", async () => {
      stage.door.handler = () => [1, 2];
      const task = await begin("listing");
      const { result } = await submit(task.id, pay(task));
      expect(result.artifacts[0].parts).to.deep.equal([{ kind: "text", text: "[1,2]" }]);
      const { result: modern } = await stage.door.call("GetTask", { id: task.id });
      expect(modern.artifacts[0].parts).to.deep.equal([{ data: [1, 2], mediaType: "application/json" }]);
    });

    it("goes on waiting when its message brings no payment", async () => {
      const task = await begin("roll");
      const { result } = await send({ taskId: task.id, parts: [{ kind: "text", text: "please" }] });
      const { history: told, id, status } = task;
      const { history } = result;
      expect([result.id, result.status.state]).to.deep.equal([id, status.state]);
      expect(metadataOf(result)[KEY("required")]).to.deep.equal(metadataOf(task)[KEY("required")]);
      expect(history.slice(0, told.length)).to.deep.equal(told);
      expect(history.slice(told.length).map(({ parts }: { parts: unknown }) => parts)).to.deep.equal([
        [{ kind: "text", text: "please" }],
      ]);
    });

    it("has a stored answer as it was bought, also where its service sells files by now, or jobs", () => {
      const roll = stage.door.services.find(({ manifest }) => manifest.id === "roll") as Service;
      const ofFiles = { ...roll, manifest: { ...roll.manifest, media: { type: "image/png", max_bytes: 9 } } };
      const ofJobs = { ...roll, job: { manifest: { eta_seconds: 9 } } as JobService["job"] };
      for (const service of [ofFiles, ofJobs]) {
        const task = toTask({ id: "t", contextId: "c", skill: "roll" }, toAnswered(service, { value: 1 }, "Done."), 0);
        const { status, artifacts } = toResult({ task }, "0.3", false) as Loose;
        expect(status.state).to.equal("completed");
        expect(artifacts[0].parts).to.deep.equal([{ kind: "data", data: { value: 1 } }]);
      }
    });

    it("tells the log and the limits who paid what", async () => {
      const task = await begin("roll");
      const message = { messageId: "m", role: "user", taskId: task.id, metadata: { [KEY("payload")]: pay(task) } };
      const { calls } = await stage.door.post({ jsonrpc: "2.0", id: 1, method: "message/send", params: { message } });
      expect(calls[0]).to.deep.include({ service: "roll" }).and.have.nested.property("receipt.success", true);
    });
  });

  describe("and its context", () => {
    it("keeps the context that the client has named, and lets later messages name it or not", async () => {
      const parts = [{ kind: "data", data: { skill: "roll", input: INPUT } }];
      const { result: task } = await send({ parts, contextId: "ours" });
      expect(task.contextId).to.equal("ours");
      for (const contextId of [undefined, "", "ours"])
        expect((await send({ taskId: task.id, contextId })).result.id).to.equal(task.id);
      const { error } = await send({ taskId: task.id, contextId: "another" });
      expect(error.code).to.equal(-32602);
    });

    it("is found under its own id alone", async () => {
      await begin("roll");
      for (const id of ["x", "00000000-0000-4000-8000-000000000000", "__proto__"])
        expect((await get(id)).error.code).to.equal(-32001);
      for (const id of [undefined, null, "", 5, {}, "x".repeat(129), "\ud800"])
        expect((await stage.door.call("tasks/get", { id })).error.code).to.equal(-32602);
      expect((await send({ taskId: "x" })).error.code).to.equal(-32001);
      expect((await stage.door.call("tasks/cancel", { id: "x" })).error.code).to.equal(-32001);
    });
  });
});
