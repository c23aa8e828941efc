import { expect } from "chai";
import type { Loose } from "../mcp/served/support/stall.ts";
import { BOUNDLESS, type Door, openDoor } from "./served/support/door.ts";

describe("unpaid A2A tasks", () => {
  let door: Door;
  before(async () => {
    door = await openDoor({ budgets: BOUNDLESS, mostUnpaidBytes: 100_000 });
  });
  after(() => door.close());

  const send = (message: object): Promise<Loose> =>
    door.call("message/send", { message: { kind: "message", messageId: "m", role: "user", parts: [], ...message } });
  const begin = async (padding: number, letter = "x"): Promise<Loose> => {
    const input = { low: 1, high: 6, padding: letter.repeat(padding) };
    return (await send({ parts: [{ kind: "data", data: { skill: "roll", input } }] })).result;
  };
  const stateOf = async ({ id }: Loose): Promise<string | undefined> =>
    (await door.call("tasks/get", { id })).result?.status.state;
  const heldBytes = async (): Promise<number> => {
    let bytes = 0;
    for await (const key of door.store.keys("a2a:task:"))
      bytes += Buffer.byteLength(JSON.stringify(await door.store.get(key)));
    return bytes;
  };

  it("hold no more than their bound, whoever sends them: the oldest are forgotten", async () => {
    const tasks: Loose[] = [];
    for (let at = 0; at < 40; at += 1) tasks.push(await begin(10_000));
    expect(await heldBytes()).to.be.below(100_000);
    expect(await stateOf(tasks[0])).to.equal(undefined);
    expect(await stateOf(tasks[39])).to.equal("input-required");
  });

  it("hold no more than their bound of letters of three bytes each", async () => {
    for (let at = 0; at < 20; at += 1) await begin(5000, "語");
    expect(await heldBytes()).to.be.below(100_000);
  });

  it("leave paid ones alone", async () => {
    const task = await begin(10);
    const metadata = {
      "x402.payment.status": "payment-submitted",
      "x402.payment.payload": door.pay(task.status.message.metadata["x402.payment.required"]),
    };
    await send({ taskId: task.id, metadata });
    for (let at = 0; at < 20; at += 1) await begin(10_000);
    expect(await stateOf(task)).to.equal("completed");
  });
});
