import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import { createJobFailures } from "../../../runtime/core/jobs/failures.ts";
import { createSaleAnswers, readSaleAnswer } from "../../../runtime/core/notes/answers.ts";
import { notePrices, readPrices } from "../../../runtime/core/notes/prices.ts";
import { createRefusals, readRefusals } from "../../../runtime/core/notes/refusals.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";

const DAY_MS = 24 * 60 * 60_000;

describe("what is kept beside the book", () => {
  let now: number;
  let store: ReturnType<typeof createMemoryStore>;
  beforeEach(() => {
    now = Date.UTC(2026, 4, 1, 12);
    store = createMemoryStore(() => now);
  });
  const deps = () => ({ store, clock: { now: () => now }, log: silentLog });

  it("counts refusals by payer and reason, over processes, days and restarts, for 90 days", async () => {
    const [one, other] = [createRefusals(deps()), createRefusals(deps())];
    for (const each of [one, other]) each.note("0xa", "refused:insufficient_funds");
    await Promise.all([one.flush(), other.flush()]);
    one.note("0xa", "failed:buyer-refused");
    now += DAY_MS;
    one.note("0xa", "refused:insufficient_funds");
    other.note("0xb", "refused:invalid_signature");
    await Promise.all([one.flush(), other.flush()]);
    expect(await readRefusals(store, now)).to.have.deep.members([
      { payer: "0xa", lastAt: now, counts: { "refused:insufficient_funds": 3, "failed:buyer-refused": 1 } },
      { payer: "0xb", lastAt: now, counts: { "refused:invalid_signature": 1 } },
    ]);
    now += 91 * DAY_MS;
    expect(await readRefusals(store, now)).to.deep.equal([]);
  });

  it("counts a refusal once when a write takes so long that the next one begins", async () => {
    const refusals = createRefusals(deps());
    refusals.note("0xa", "refused:insufficient_funds");
    const first = refusals.flush();
    refusals.note("0xa", "refused:insufficient_funds");
    const second = refusals.flush();
    now += DAY_MS;
    refusals.note("0xa", "refused:insufficient_funds");
    await Promise.all([first, second, refusals.flush()]);
    const [{ counts } = { counts: {} }] = await readRefusals(store, now);
    expect(counts).to.deep.equal({ "refused:insufficient_funds": 3 });
  });

  it("counts refusals also while the store takes no writes, over a day's end, and says so once", async () => {
    const logged: string[] = [];
    const failing = async (): Promise<never> => {
      throw new Problem("unavailable");
    };
    let { set, putIfAbsent } = { set: failing as typeof store.set, putIfAbsent: failing as typeof store.putIfAbsent };
    const slow: Pick<typeof store, "set" | "putIfAbsent"> = {
      set: (...write) => set(...write),
      putIfAbsent: (...write) => putIfAbsent(...write),
    };
    const log = { ...silentLog, warn: (event: string) => void logged.push(event) };
    const refusals = createRefusals({ ...deps(), store: slow, log });
    for (const _ of [1, 2]) {
      refusals.note("0xa", "refused:insufficient_funds");
      await refusals.flush();
      now += DAY_MS;
    }
    ({ set, putIfAbsent } = store);
    refusals.note("0xa", "refused:insufficient_funds");
    await refusals.flush();
    const [{ counts } = { counts: {} }] = await readRefusals(store, now);
    expect(counts).to.deep.equal({ "refused:insufficient_funds": 3 });
    expect(logged).to.deep.equal(["books.refusals-wait"]);
  });

  it("counts the refusals of a day in which four workers are started again and again", async () => {
    for (let start = 0; start < 4 * 50; start += 1) {
      const refusals = createRefusals(deps());
      refusals.note("0xa", "refused:insufficient_funds");
      await refusals.flush();
    }
    const [{ counts } = { counts: {} }] = await readRefusals(store, now);
    expect(counts).to.deep.equal({ "refused:insufficient_funds": 200 });
  });

  it("keeps the payers who came often when somebody makes wallet after wallet", async () => {
    const refusals = createRefusals(deps());
    for (const _ of [1, 2]) refusals.note("0xoften", "refused:insufficient_funds");
    for (let wallet = 0; wallet < 2000; wallet += 1) refusals.note(`0x${wallet}`, "refused:invalid_signature");
    await refusals.flush();
    const kept = await readRefusals(store, now);
    expect(kept).to.have.length(500);
    expect(kept.map(({ payer }) => payer))
      .to.include("0xoften")
      .and.to.include("0x1999");
  });

  it("knows how each sale was answered, and how often later, for 90 days", async () => {
    const [one, other] = [createSaleAnswers(deps()), createSaleAnswers(deps())];
    const begun = now;
    const read = (id: string) => readSaleAnswer(store, { id, times: { begun } });
    one.note("sale_1", begun, "sent");
    other.note("sale_2", begun, "gone");
    await Promise.all([one.flush(), other.flush()]);
    one.note("sale_5", begun + 1, "sent");
    await one.flush();
    const kept = [...store.entries.keys()].filter((key) => key.startsWith("answered:"));
    expect(kept, "an entry for a minute and a process").to.have.length(2);
    now += 5 * 60_000;
    for (const _ of [1, 2]) other.note("sale_2", now, "later");
    one.note("sale_3", begun, "sent");
    await Promise.all([one.flush(), other.flush()]);
    one.note("sale_2", now, "later");
    await one.flush();
    expect(await read("sale_1")).to.deep.equal({ sentAt: begun });
    expect(await read("sale_2")).to.deep.equal({ goneAt: begun, later: { count: 3, lastAt: now } });
    expect(await read("sale_3")).to.deep.equal({ sentAt: now });
    expect(await read("sale_5")).to.deep.equal({ sentAt: begun });
    expect(await read("sale_4")).to.deep.equal({});
    await store.set(`answers:${begun / 60_000}:0`, { sale_6: begun });
    await store.set(`answers:${begun / 60_000}:1`, { sale_7: -begun });
    expect([await read("sale_6"), await read("sale_7")], "as earlier versions have noted it").to.deep.equal([
      { sentAt: begun },
      { goneAt: begun },
    ]);
    now = begun + 89 * DAY_MS;
    expect(await read("sale_1")).to.deep.equal({ sentAt: begun });
    expect(await read("sale_2")).to.have.nested.property("later.count", 3);
  });

  it("knows it also of sales that were answered just before the store took no writes", async () => {
    let isAway = true;
    const write = <Args extends readonly unknown[], Result>(work: (...args: Args) => Promise<Result>) =>
      (async (...args) => {
        if (isAway) throw new Problem("unavailable", "Redis is full and takes no writes");
        return work(...args);
      }) as typeof work;
    const busy = { get: store.get, set: write(store.set), putIfAbsent: write(store.putIfAbsent) };
    const answers = createSaleAnswers({ ...deps(), store: busy as typeof store });
    const begun = now;
    answers.note("sale_1", begun, "sent");
    answers.note("sale_2", begun, "later");
    await answers.flush();
    now += 5 * 60_000;
    answers.note("sale_2", now, "later");
    await answers.flush();
    isAway = false;
    await answers.flush();
    await answers.flush();
    const read = (id: string) => readSaleAnswer(store, { id, times: { begun } });
    expect(await read("sale_1")).to.deep.equal({ sentAt: begun });
    expect(await read("sale_2")).to.deep.equal({ later: { count: 2, lastAt: now } });
  });

  it("has a service's prices as they changed, and not as often as servers start", async () => {
    const first = now;
    const roll = { id: "roll", price: "0.001" };
    for (const _ of [1, 2]) await notePrices(store, [roll, { id: "verify" }], now);
    now += DAY_MS;
    await notePrices(store, [{ ...roll, price: "0.002" }, { id: "verify" }], now);
    await notePrices(store, [{ id: "verify" }], now + 1);
    expect(await readPrices(store, "roll")).to.deep.equal([
      { at: first, price: "0.001" },
      { at: now, price: "0.002" },
      { at: now + 1, price: null },
    ]);
    expect(await readPrices(store, "verify")).to.deep.equal([{ at: first, price: null }]);
    expect(await readPrices(store, "toString")).to.deep.equal([]);
  });

  it("has the prices of a service with one of JavaScript's own names, and of those beside it", async () => {
    const services = ["constructor", "toString", "roll"].map((id) => ({ id, price: "0.001" }));
    for (const _ of [1, 2]) await notePrices(store, services, now);
    for (const { id } of services) expect(await readPrices(store, id), id).to.deep.equal([{ at: now, price: "0.001" }]);
  });

  it("lists a failed job once, however often it is told, the newest first", async () => {
    const failures = createJobFailures(store);
    const job = { service: "report", error: "no data", at: now };
    for (const [later, id] of ["a", "b", "b", "a", "c"].entries()) await failures.note({ ...job, id, at: now + later });
    expect((await failures.list(2)).map(({ id }) => id)).to.deep.equal(["c", "b"]);
    expect((await failures.list(10)).map(({ id }) => id)).to.deep.equal(["c", "b", "a"]);
  });
});
