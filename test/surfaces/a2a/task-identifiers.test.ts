import { expect } from "chai";
import { isAway } from "../../support/chains/scripted-rail.ts";
import type { Loose } from "../mcp/served/support/stall.ts";
import { INPUT, KEY, metadataOf, stageTasks } from "../support/task-stage.ts";

const ID = "purchase-0123456789";

describe("tasks that are paid for with the same identifier", () => {
  const stage = stageTasks();
  const { begin, submit, pay, send } = stage;
  /** Each time another authorization of the same payer. */
  const named = (task: Loose): object => {
    const payment = pay(task) as Loose;
    payment.payload.authorization.from = `0x${"77".repeat(20)}`;
    return { ...payment, extensions: { "payment-identifier": { info: { required: false, id: ID } } } };
  };
  const outputOf = ({ artifacts }: Loose): unknown => artifacts[0].parts.find((part: Loose) => part.data).data;

  it("are one purchase: the second one has the answer of the first, and its receipt", async () => {
    const first = await begin("roll");
    const one = (await submit(first.id, named(first))).result;
    const second = await begin("roll");
    const two = (await submit(second.id, named(second))).result;
    expect(two.status.state).to.equal("completed");
    expect(outputOf(two)).to.deep.equal(outputOf(one));
    expect(metadataOf(two)[KEY("receipts")]).to.deep.equal(metadataOf(one)[KEY("receipts")]);
    expect(stage.door.executions).to.equal(1);
    expect(stage.door.rails.base.moved.size).to.equal(1);
  });

  it("are one purchase also where the payment comes with the first message", async () => {
    const first = await begin("roll");
    const one = (await submit(first.id, named(first))).result;
    const parts = [{ kind: "data", data: { skill: "roll", input: INPUT } }];
    const { result } = await send({ parts, metadata: { [KEY("payload")]: named(first) } });
    expect(outputOf(result)).to.deep.equal(outputOf(one));
    expect(stage.door.rails.base.moved.size).to.equal(1);
  });

  it("are one purchase also within one task, while its outcome is unknown and after its end", async () => {
    const { script } = stage.door.rails.base;
    script.settle = isAway;
    script.find = () => ({ state: "open" });
    const task = await begin("roll");
    const other = pay(task);
    expect((await submit(task.id, named(task))).result.status.state).to.equal("working");
    expect((await submit(task.id, named(task))).result.status.state).to.equal("working");
    script.find = () => ({ state: "settled", transaction: "0xfeed" });
    const one = (await submit(task.id, named(task))).result;
    expect(one.status.state).to.equal("completed");
    const two = (await submit(task.id, named(task))).result;
    expect(outputOf(two)).to.deep.equal(outputOf(one));
    const { error } = await submit(task.id, other);
    expect(error.message, "a payment without the identifier").to.match(/^The task is completed/);
    expect(stage.door.executions).to.equal(1);
  });

  it("keep the second task open when it asks for something else", async () => {
    const first = await begin("roll");
    await submit(first.id, named(first));
    const other = await begin("roll", { low: 1, high: 7 });
    const { result } = await submit(other.id, named(other));
    expect(result.status.state).to.equal("input-required");
    expect(metadataOf(result)[KEY("status")]).to.equal("payment-failed");
    expect(stage.door.rails.base.moved.size).to.equal(1);
  });
});
