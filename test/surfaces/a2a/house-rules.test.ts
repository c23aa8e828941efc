import { expect } from "chai";
import type { Service } from "../../../runtime/core/service.ts";
import { isAway } from "../../support/chains/scripted-rail.ts";
import type { Loose } from "../mcp/served/support/stall.ts";
import { BOUNDLESS, type Door, type DoorOptions, openDoor } from "./served/support/door.ts";

const INPUT = { low: 1, high: 6 };
const BUYER = `0x${"1".repeat(40)}`;

describe("a shop's house rules, between agents", () => {
  let door: Door;
  const open = async (rules: DoorOptions["rules"]): Promise<void> => {
    door = await openDoor({ budgets: BOUNDLESS, ...(rules && { rules }) });
  };
  afterEach(() => door.close());

  const send = async (message: object): Promise<Loose> =>
    (await door.call("message/send", { message: { messageId: "m", role: "user", parts: [], ...message } })).result;
  /** A payment of the same wallet each time. */
  const pay = (required: Loose): Loose => {
    const payment = door.pay(required) as Loose;
    payment.payload.authorization.from = BUYER;
    return payment;
  };
  /** Begins a task, pays it, and gives it as it stands then. */
  const buy = async (): Promise<Loose> => {
    const task = await send({ parts: [{ kind: "data", data: { skill: "roll", input: INPUT } }] });
    const payment = pay(task.status.message.metadata["x402.payment.required"]);
    const metadata = { "x402.payment.status": "payment-submitted", "x402.payment.payload": payment };
    return send({ taskId: task.id, metadata });
  };
  const problemOf = ({ status }: Loose): Loose => status.message.parts.find((part: Loose) => part.data).data;
  const statusOf = ({ status }: Loose): string => status.message.metadata["x402.payment.status"];

  it("reject a denied wallet's task in the shape of this door, before anything is run or charged", async () => {
    await open({ deny: [BUYER] });
    const task = await buy();
    expect(task.status.state).to.equal("rejected");
    expect(problemOf(task)).to.include({ code: "buyer-refused", status: 403 });
    expect(task.status.message.parts[0].text).to.match(/this wallet buy; nothing was charged\.$/);
    expect(statusOf(task)).to.equal("payment-failed");
    expect(task).not.to.have.property("artifacts");
    expect([door.executions, door.rails.base.asked.settle, door.rails.base.moved.size]).to.deep.equal([0, 0, 0]);
  });

  it("bound what a wallet buys here together with all other doors", async () => {
    await open({ per_payer: { calls_per_minute: 2, usd_per_day: "1" } });
    door.clock.advance(60_000 - (door.clock.now() % 60_000)); // The beginning of a minute.
    for (const _ of [1, 2]) expect((await buy()).status.state).to.equal("completed");
    const task = await buy();
    expect(task.status.state).to.equal("input-required");
    expect(problemOf(task)).to.include({ code: "rate-limited" }).and.to.have.property("retry_after").that.is.above(0);
    expect(JSON.stringify(task))
      .to.include("2 calls a minute")
      .and.to.match(/nothing was charged/i);
    expect(task).not.to.have.property("artifacts");
    expect(door.rails.base.moved.size).to.equal(2);
    const required = await challenge();
    const { signal } = new AbortController();
    const rest = await door
      .invoke(door.services[0] as Service, {
        id: "1",
        resource: required.resource.url,
        payment: pay(required),
        signal,
        input: async () => ({ value: INPUT, from: "body" }),
      })
      .catch((error: Error) => error);
    expect(rest).to.include({ code: "rate-limited" });
    door.clock.advance(60_000);
    const late = pay(await challenge());
    door.rails.base.script.settle = isAway;
    const unknown = await send({ taskId: task.id, metadata: { "x402.payment.payload": late } });
    expect(unknown.status.state).to.equal("working");
    expect(problemOf(unknown), "what became of this payment").to.include({
      code: "settlement-unknown",
      retry_after: 5,
    });
    door.rails.base.script = {};
    const done = await send({ taskId: task.id, metadata: { "x402.payment.payload": late } });
    expect(done.status.state, "the task takes a payment later").to.equal("completed");
    expect(done.status.message.parts).to.have.length(1);
  });

  async function challenge(): Promise<Loose> {
    const task = await send({ parts: [{ kind: "data", data: { skill: "roll", input: INPUT } }] });
    return task.status.message.metadata["x402.payment.required"];
  }
});
