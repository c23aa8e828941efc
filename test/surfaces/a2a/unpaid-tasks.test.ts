import { expect } from "chai";
import { createTaskBook, type TaskBook } from "../../../runtime/surfaces/a2a/task-book.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";
import { createTestClock } from "../../support/test-clock.ts";
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

  for (const [since, days] of [
    ["", 0],
    [", also when its payment is forgotten", 2],
  ] as const)
    it(`leave a job alone that was paid for at another process${since}`, async () => {
      const clock = createTestClock();
      const store = createMemoryStore(clock.now);
      const open = (): TaskBook => createTaskBook({ store, clock, mostUnpaidBytes: 10_000 });
      const [here, there] = [open(), open()];
      const due = {
        state: "input-required",
        text: "Pay",
        payment: { status: "payment-required", receipts: [] },
      } as const;
      const task = await here.write(here.draft("report", undefined), due);
      await there.claimPayment(task.id, { payment: {}, task });
      const job = { job_id: "1", status_url: "https://payphone.example/v1/jobs/1" };
      const paid = { status: "payment-completed", receipts: [] } as const;
      await there.write(task, { state: "working", text: "The job has begun", payment: paid, job });
      clock.advance(days * 24 * 60 * 60_000);
      await here.write(here.draft("report", undefined), { ...due, text: "x".repeat(20_000) });
      expect(await here.read(task.id)).to.have.property("state", "working");
    });
});
