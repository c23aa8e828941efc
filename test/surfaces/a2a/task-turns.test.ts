import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import { isAway } from "../../support/chains/scripted-rail.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";
import type { Loose } from "../mcp/served/support/stall.ts";
import { INPUT, KEY, metadataOf } from "../support/task-stage.ts";
import { BOUNDLESS, type Door, manifestOf, openDoor } from "./served/support/door.ts";

const begin = async ({ call }: Door): Promise<Loose> => {
  const parts = [{ kind: "data", data: { skill: "roll", input: INPUT } }];
  return (await call("message/send", { message: { messageId: "m", role: "user", parts } })).result;
};
const submit = ({ call }: Door, taskId: string, payment: object): Promise<Loose> =>
  call("message/send", { message: { messageId: "m", role: "user", taskId, metadata: { [KEY("payload")]: payment } } });
const textOf = ({ status }: Loose): string => status.message.parts[0].text;

const DONE = { contextId: "c", skill: "roll", state: "completed", text: "Done.", output: {}, updatedAt: 0 };

describe("the payment of a task", () => {
  const doors: Door[] = [];
  const open = async (options: Parameters<typeof openDoor>[0]): Promise<Door> => {
    const door = await openDoor({ budgets: BOUNDLESS, ...options });
    doors.push(door);
    return door;
  };
  afterEach(() => {
    for (const door of doors.splice(0)) door.close();
  });

  it("is made, or refused, also where a text in it has half a surrogate pair", async () => {
    const door = await open({});
    const task = await begin(door);
    const payment = door.pay(metadataOf(task)[KEY("required")]);
    const refused = await submit(door, task.id, { ...payment, payload: { signature: "\ud83c" } });
    expect(textOf(refused.result)).to.match(/^The payment was not accepted \(invalid_payload/);
    const paid = await submit(door, task.id, { ...payment, extensions: { note: "Dice \ud83c" } });
    expect(paid.result.status.state).to.equal("completed");
  });

  it("is reported to the log with its token, and whether it was made for an earlier request", async () => {
    const door = await open({});
    const required = metadataOf(await begin(door))[KEY("required")];
    const payment = door.pay(required);
    const reported = async (): Promise<unknown[]> => {
      const metadata = { [KEY("payload")]: payment };
      const message = { messageId: "m", role: "user", taskId: (await begin(door)).id, metadata };
      const { calls } = await door.post({ jsonrpc: "2.0", id: 1, method: "message/send", params: { message } });
      return calls.map(({ asset, isRepeat }) => [asset, isRepeat]);
    };
    const { asset } = required.accepts[0];
    expect([await reported(), await reported()]).to.deep.equal([[[asset, undefined]], [[asset, true]]]);
  });

  it("is not made by one request while another one records its refusal", async () => {
    const store = createMemoryStore();
    const door = await open({ store });
    const task = await begin(door);
    const payment = door.pay(metadataOf(task)[KEY("required")]);
    door.rails.base.script.verify = isAway;
    const { set } = store;
    let asked: Loose;
    store.set = async (key, ...more) => {
      if (key === `a2a:task:${task.id}`) {
        store.set = set;
        door.rails.base.script = {};
        asked = (await door.call("tasks/get", { id: task.id })).result;
      }
      return set(key, ...more);
    };
    const { result: refused } = await submit(door, task.id, payment);
    expect(metadataOf(refused)[KEY("status")]).to.equal("payment-required");
    expect(asked.status.state).to.equal("working");
    const { result: canceled } = await door.call("tasks/cancel", { id: task.id });
    expect(textOf(canceled)).to.equal("Canceled; nothing was charged.");
    expect(door.rails.base.moved.size).to.equal(0);
  });

  for (const [who, overtake, told] of [
    ["another payment", ({ id }, payment) => [`a2a:bond:${id}`, { payment }], /is being paid for, or was canceled/],
    ["a free call", ({ id }) => [`a2a:task:${id}`, { ...DONE, id }], /"completed"/],
  ] as [string, (task: Loose, other: object) => [string, object], RegExp][])
    it(`is not made by a request that ${who} has overtaken`, async () => {
      const store = createMemoryStore();
      const door = await open({ store });
      const task = await begin(door);
      const pay = (): object => door.pay(metadataOf(task)[KEY("required")]);
      const { putIfAbsent } = store;
      store.putIfAbsent = async (key, ...more) => {
        if (key === `a2a:turn:${task.id}`) await store.set(...overtake(task, pay()));
        return putIfAbsent(key, ...more);
      };
      expect(JSON.stringify(await submit(door, task.id, pay()))).to.match(told);
      expect(door.rails.base.moved.size).to.equal(0);
    });

  it("is not called uncharged when its outcome is unknown and its service is gone", async () => {
    const store = createMemoryStore();
    const first = await open({ store });
    const task = await begin(first);
    first.rails.base.script.settle = isAway;
    first.rails.base.script.find = () => ({ state: "open" });
    const payment = first.pay(metadataOf(task)[KEY("required")]);
    expect((await submit(first, task.id, payment)).result.status.state).to.equal("working");
    const second = await open({ store, manifests: [manifestOf("twin")] });
    const { result } = await second.call("tasks/get", { id: task.id });
    expect(result.status.state).to.equal("working");
    expect(textOf(result)).to.match(/^The skill "roll" is not offered any more.*do not pay again/);
    const third = await open({ store });
    third.rails.base.script.find = () => ({ state: "settled", transaction: "0xfeed" });
    const { result: done } = await third.call("tasks/get", { id: task.id });
    expect(done.status.state, "once it is offered again").to.equal("completed");
  });

  it("is asked for no more once its service is free: the next message completes the task", async () => {
    const store = createMemoryStore();
    const { id } = await begin(await open({ store }));
    const { price: _price, ...free } = manifestOf("roll");
    const second = await open({ store, manifests: [free] });
    const { result: waiting } = await second.call("tasks/get", { id });
    expect(textOf(waiting)).to.equal("The skill is free now: send another message to this task.");
    expect(waiting.status).to.have.property("state", "input-required");
    expect(waiting.status.message).not.to.have.property("metadata");
    const { result } = await second.call("message/send", { message: { messageId: "m", role: "user", taskId: id } });
    expect([result.status.state, second.executions]).to.deep.equal(["completed", 1]);
  });

  it("is not called uncharged when the store does not tell what its payment has bought, and its service is free", async () => {
    const store = createMemoryStore();
    const first = await open({ store });
    const task = await begin(first);
    const payment = first.pay(metadataOf(task)[KEY("required")]);
    await submit(first, task.id, payment);
    const { price: _price, ...free } = manifestOf("roll");
    const second = await open({ store, manifests: [free] });
    const send = async (): Promise<Loose> => {
      const parts = [{ kind: "data", data: { skill: "roll", input: INPUT } }];
      const message = { messageId: "m", role: "user", parts, metadata: { [KEY("payload")]: payment } };
      return (await second.call("message/send", { message })).result;
    };
    const { get } = store;
    store.get = (key) =>
      key.startsWith("payment:") ? Promise.reject(new Problem("unavailable", "No store")) : get(key);
    const waiting = await send();
    expect(textOf(waiting)).to.match(/^No store\. Send the same payment again/);
    store.get = get;
    expect(textOf(await send())).to.equal("Paid and done.");
  });
});
