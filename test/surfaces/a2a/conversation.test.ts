import { expect } from "chai";
import type { Service } from "../../../runtime/core/service.ts";
import type { Loose } from "../mcp/served/support/stall.ts";
import { INPUT, stageTasks } from "../support/task-stage.ts";

describe("a conversation over A2A", () => {
  const stage = stageTasks();
  const say = (text: string, more: object = {}): Promise<Loose> =>
    stage.send({ parts: [{ kind: "text", text }], ...more });

  it("answers words that name no skill with a message that lists the skills and their prices", async () => {
    for (const text of ["Hi, what can you do?", "hello", "help", "What does a roll cost?", "¿Qué haces?"]) {
      const { result, error } = await say(text, { contextId: "a-conversation" });
      expect(error, text).to.equal(undefined);
      expect(result).to.include({ kind: "message", role: "agent", contextId: "a-conversation" });
      expect(result.messageId).to.be.a("string").with.length.above(0);
      expect(result.parts[0].kind).to.equal("text");
      expect(result.parts[0].text).to.match(/^- roll: .* Costs 0\.001 USD a call, paid with x402\.$/m);
    }
    const { result } = await stage.door.call("SendMessage", {
      message: { role: "ROLE_USER", messageId: "m", parts: [{ text: "Hi, what can you do?", data: null, raw: null }] },
    });
    expect(Object.keys(result)).to.deep.equal(["message"]);
    expect(result.message).to.include({ role: "ROLE_AGENT" });
    expect(result.message.parts[0]).to.have.all.keys("text");
  });

  it("still begins a task for a skill's id, and names the fault of a request that was meant for one", async () => {
    expect((await say("roll")).result).to.include({ kind: "task" });
    expect((await say('roll {"low":1,"high":6}')).result.status.state).to.equal("input-required");
    expect((await say('rol {"low":1,"high":6}')).error.message).to.match(/did you mean "roll"/);
    expect((await say('{"skill":"rol"}')).error.message).to.match(/did you mean "roll"/);
    expect((await stage.send({ parts: [] })).error.code).to.equal(-32602);
    expect((await stage.send({ parts: [{ kind: "data", data: {} }] })).error.code).to.equal(-32602);
  });

  it("refuses messages without an id", async () => {
    const parts = [{ kind: "data", data: { skill: "roll", input: INPUT } }];
    for (const messageId of [undefined, null, "", 5, {}, "x".repeat(129)]) {
      const { error } = await stage.send({ messageId, parts });
      expect(error, String(messageId)).to.include({ code: -32602 });
      expect(error.message).to.match(/messageId is required/);
    }
  });

  it("refuses a message that is larger than its skill takes", async () => {
    const { bodyBytes } = stage.door.services.find(({ manifest }) => manifest.id === "roll") as Service;
    const input = { ...INPUT, junk: "x".repeat(bodyBytes + 16_384) };
    const { error } = await stage.send({ parts: [{ kind: "data", data: { skill: "roll", input } }] });
    expect(error.data.code).to.equal("payload-too-large");
  });

  it("is remembered also where a task that waits is only talked to, and then paid", async () => {
    const { result: task } = await stage.send({
      messageId: "1",
      parts: [{ kind: "text", text: `roll ${JSON.stringify(INPUT)}` }],
    });
    for (const messageId of ["2", "3"])
      await stage.send({ messageId, taskId: task.id, parts: [{ kind: "text", text: "Is it ready?" }] });
    const { result: shown } = await stage.get(task.id);
    expect(shown.history.map(({ messageId }: Loose) => messageId)).to.deep.equal(["1", "2", "3"]);
    expect((await stage.submit(task.id, stage.pay(shown))).result.status.state).to.equal("completed");
  });

  it("refuses another skill or another input for a task that waits, paid or not, and takes its own again", async () => {
    const task = await stage.begin("roll");
    const payment = stage.pay(task);
    const metadata = { "x402.payment.status": "payment-submitted", "x402.payment.payload": payment };
    const others: readonly object[][] = [
      [{ kind: "data", data: { skill: "roll", input: { low: 5, high: 5 } } }],
      [{ kind: "data", data: { skill: "twin", input: INPUT } }],
      [{ kind: "text", text: 'roll {"low":5,"high":5}' }],
      [{ kind: "text", text: "twin" }],
      [{ kind: "text", text: "roll" }, { data: { low: 5, high: 5 } }],
    ];
    for (const parts of others)
      for (const more of [{}, { metadata }]) {
        const { error } = await stage.send({ taskId: task.id, parts, ...more });
        expect(error, JSON.stringify(parts)).to.include({ code: -32602 });
        expect(error.message).to.match(/leave taskId out/);
      }
    const corrected = await stage.send({ taskId: task.id, parts: [{ kind: "data", data: { low: 5, high: 5 } }] });
    expect(corrected.error).to.include({ code: -32602 });
    expect([stage.door.executions, stage.door.rails.base.moved.size]).to.deep.equal([0, 0]);
    const own = [{ kind: "data", data: { skill: "roll", input: { high: INPUT.high, low: INPUT.low } } }];
    const beside = { kind: "data", data: { "a.mandate": {} } };
    expect((await stage.send({ taskId: task.id, parts: own })).result.status.state).to.equal("input-required");
    expect((await stage.send({ taskId: task.id, parts: [beside], metadata })).result.status.state).to.equal(
      "completed",
    );
  });

  it("refuses messages that nobody has said, or that an agent has", async () => {
    const parts = [{ kind: "data", data: { skill: "roll", input: INPUT } }];
    for (const role of [undefined, null, "", "agent", "ROLE_AGENT", "ROLE_UNSPECIFIED", 1]) {
      const { error } = await stage.send({ role, parts });
      expect(error, String(role)).to.include({ code: -32602 });
      expect(error.message).to.match(/message\.role must be "user"/);
    }
  });

  it("is remembered with its task, and shown as far as somebody asks", async () => {
    const first = [{ kind: "data", data: { skill: "roll", input: INPUT } }];
    const { result: task } = await stage.send({ messageId: "first", parts: first });
    expect(task.history).to.deep.equal([
      { kind: "message", messageId: "first", taskId: task.id, contextId: task.contextId, role: "user", parts: first },
    ]);
    const { result: paid } = await stage.send({
      messageId: "second",
      taskId: task.id,
      parts: [{ kind: "text", text: "Here is the payment." }],
      metadata: { "x402.payment.status": "payment-submitted", "x402.payment.payload": stage.pay(task) },
    });
    expect(paid.status.state).to.equal("completed");
    expect(paid.history.map(({ messageId }: Loose) => messageId)).to.deep.equal(["first", "second"]);
    expect(JSON.stringify(paid.history), "payments are not kept there").not.to.include("signature");
    const get = async (params: object): Promise<Loose> =>
      (await stage.door.call("tasks/get", { id: task.id, ...params })).result;
    expect((await get({})).history).to.have.length(2);
    expect((await get({ historyLength: 1 })).history.map(({ messageId }: Loose) => messageId)).to.deep.equal([
      "second",
    ]);
    expect(await get({ historyLength: 0 })).not.to.have.property("history");
    const current = (await stage.door.call("GetTask", { id: task.id })).result;
    expect(current.history[0]).to.include({ role: "ROLE_USER" }).and.not.have.property("kind");
  });

  it("is remembered without the parts that have no text and no data", async () => {
    const { result: task } = await say("roll");
    const parts = [
      { kind: "file", file: { bytes: "aGk=" } },
      { kind: "text", text: 5 },
      { data: null },
      { text: "ok" },
    ];
    const { result } = await stage.send({ taskId: task.id, parts });
    expect(result.history[1].parts).to.deep.equal([{ kind: "text", text: "ok" }]);
  });

  it("refuses a length of history that is none", async () => {
    const { result: task } = await say("roll");
    for (const historyLength of [-1, 1.5, "1", {}, Number.MAX_VALUE]) {
      const asked = await stage.door.call("tasks/get", { id: task.id, historyLength });
      const sent = await stage.door.call("message/send", {
        message: { kind: "message", messageId: "m", role: "user", parts: [{ kind: "text", text: "roll" }] },
        configuration: { historyLength },
      });
      for (const { error } of [asked, sent]) expect(error, String(historyLength)).to.include({ code: -32602 });
    }
  });

  it("keeps ten messages, and no long ones twice", async () => {
    const { result: task } = await stage.send({
      parts: [{ kind: "data", data: { skill: "roll", input: { ...INPUT, label: "x".repeat(17_000) } } }],
    });
    expect(task.history[0].parts).to.deep.equal([{ kind: "text", text: "(too long to be kept)" }]);
    for (let at = 0; at < 12; at++) await stage.submit(task.id, {});
    expect((await stage.get(task.id)).result.history).to.have.length(10);
  });
});
