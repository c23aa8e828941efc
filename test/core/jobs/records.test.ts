import { expect } from "chai";
import { createJobFailures } from "../../../runtime/core/jobs/failures.ts";
import { createJobRecords } from "../../../runtime/core/jobs/records.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";

describe("the records of jobs", () => {
  it("keep the first result of a step, and the first end and payment of a job, whoever comes later", async () => {
    const records = createJobRecords({ store: createMemoryStore(), clock: { now: Date.now } });
    const { id } = await records.reserve({ service: "search", input: {}, refund: true });
    const payment = { network: "eip155:8453", asset: "0x1", amount: "1", payer: "0x9", transaction: "0x2" };
    await records.begin(id, payment);
    expect((await records.begin(id, null))?.begun?.payment).to.deep.equal(payment);
    expect(await records.keepStep(id, "sign", "the first")).to.equal("the first");
    expect(await records.keepStep(id, "sign", "the second")).to.equal("the first");
    const [failed, delivered] = [
      { state: "FAILED", at: 1, error: "no" },
      { state: "DELIVERED", at: 2, deliverable: {} },
    ] as const;
    expect(await records.end(id, failed)).to.deep.equal(failed);
    expect(await records.end(id, delivered)).to.deep.equal(failed);
  });

  it("keep the results of steps with names of any length, such as an address that the buyer has sent", async () => {
    const records = createJobRecords({ store: createMemoryStore(), clock: { now: Date.now } });
    const { id } = await records.reserve({ service: "search", input: {}, refund: true });
    const names = ["a", "b"].map((end) => `fetch https://a.example/${"\ud83d\ude00".repeat(300)}${end}`);
    for (const name of names) await records.keepStep(id, name, name);
    const kept = await Promise.all(names.map(async (name) => (await records.readStep(id, name))?.value));
    expect(kept).to.deep.equal(names);
    expect((await records.steps(id)).map(({ name }) => name.slice(0, 15))).to.deep.equal(
      Array(2).fill("fetch https://a"),
    );
  });

  it("list those that have failed, the newest first, and each once although a crash had it listed again", async () => {
    const store = createMemoryStore();
    const failures = createJobFailures(store);
    for (const at of [1, 3, 2]) await failures.note({ id: `job ${at}`, service: "search", error: "no", at });
    for (const at of [3, 2]) {
      await store.delete(`job-failed-listed:job ${at}`);
      await failures.note({ id: `job ${at}`, service: "search", error: "no", at });
    }
    const newest = async (most: number): Promise<readonly number[]> => (await failures.list(most)).map(({ at }) => at);
    expect(await newest(3)).to.deep.equal([3, 2, 1]);
    expect(await newest(1)).to.deep.equal([3]);
  });

  it("list those that have failed although a crash has left a number without a job", async () => {
    const store = createMemoryStore();
    const failures = createJobFailures(store);
    const job = { service: "search", error: "no" };
    for (const at of [1, 2, 3]) await failures.note({ ...job, id: `job ${at}`, at });
    await store.delete("job-failed:2");
    expect((await failures.list(10)).map(({ at }) => at)).to.deep.equal([3, 1]);
  });
});
