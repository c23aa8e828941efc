import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { createLostPayments } from "../../../runtime/cli/mcp-proxy/lost.ts";
import { eventually } from "../../support/eventually.ts";
import { createFolder } from "../../support/folder.ts";
import { DICE, ROLLED, stagePurchases } from "./stage.ts";

describe("a payment of payphone mcp-proxy whose answer has not come", () => {
  const stage = stagePurchases();

  /** Sends a payment whose answer never comes. @returns what is kept of it, and how to keep something else */
  async function beginPaying() {
    stage.answers = [new Promise<never>(() => {})];
    void stage.open(60_000)();
    await eventually(() => stage.paid.length > 0);
    const [name = ""] = readdirSync(stage.spending).filter((one) => one.startsWith("payment-"));
    const file = join(stage.spending, name);
    expect(statSync(file).mode & 0o077, "for nobody else to read").to.equal(0);
    const keep = (payment: object): void => writeFileSync(file, JSON.stringify(payment));
    return { kept: JSON.parse(readFileSync(file, "utf8")), keep };
  }

  it("is sent again by the next proxy when its own was killed, and by nobody while it waits for its answer", async () => {
    stage.answers = [new Promise<never>(() => {})];
    const killed = stage.open(60_000);
    void killed();
    await eventually(() => stage.paid.length > 0);
    expect(await killed()).to.equal(ROLLED);
    expect(stage.paid[1], "another call at the same time is another purchase").to.not.deep.equal(stage.paid[0]);
    const elsewhere = createLostPayments(stage.spending, "https://other.example/mcp", () => stage.now);
    expect(elsewhere.take(DICE, new AbortController().signal), "a tool of another seller").to.equal(undefined);
    expect(await stage.open(60_000)()).to.equal(ROLLED);
    expect(stage.paid[2]).to.deep.equal(stage.paid[0]);
    await stage.open(60_000)();
    expect(stage.paid[3], "whose answer has come").to.not.deep.equal(stage.paid[0]);
    expect(stage.spent).to.equal(3);
  });

  it("is sent again when another process has the id of the proxy that was killed", async () => {
    if (process.platform !== "linux") return;
    const { kept, keep } = await beginPaying();
    expect(kept.began).to.match(/^\d+$/);
    keep({ ...kept, pid: process.ppid, began: undefined });
    await stage.open(60_000)();
    expect(stage.paid[1], "by a version that did not write it").to.not.deep.equal(stage.paid[0]);
    keep({ ...kept, pid: process.ppid, began: "1" });
    await stage.open(60_000)();
    expect(stage.paid[2]).to.deep.equal(stage.paid[0]);
  });

  it("is not sent by another while the process of another user sends it", async () => {
    const { kept, keep } = await beginPaying();
    keep({ ...kept, pid: process.ppid, began: "" });
    const { kill } = process;
    process.kill = () => {
      throw Object.assign(new Error("kill EPERM"), { code: "EPERM" });
    };
    try {
      await stage.open(60_000)();
    } finally {
      process.kill = kill;
    }
    expect(stage.paid[1]).to.not.deep.equal(stage.paid[0]);
  });

  it("is not made again by the call of a client that gave up without cancelling: that gets the answer", async () => {
    const buy = stage.open(60_000);
    const late = Promise.withResolvers<never>();
    stage.answers = [late.promise];
    void buy();
    await eventually(() => stage.paid.length > 0);
    stage.now += 5000;
    const again = buy();
    stage.now += 5000;
    const third = buy();
    expect(await buy(), "another call at the same time is another purchase").to.equal(ROLLED);
    late.resolve({ ...ROLLED, isLate: true } as never);
    expect([await again, await third]).to.deep.equal([
      { ...ROLLED, isLate: true },
      { ...ROLLED, isLate: true },
    ]);
    expect(await buy(), "whose answer has come").to.equal(ROLLED);
    expect([stage.paid.length, stage.spent]).to.deep.equal([3, 3]);
  });

  it("is not made twice where such a client gave up before the price was named to both of its calls", async () => {
    for (const turn of [
      [0, 1],
      [1, 0],
    ]) {
      const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      Object.assign(stage, { paid: [], spent: 0, holds: gates.map(({ promise }) => promise) });
      const buy = stage.open(60_000);
      const first = buy();
      stage.now += 5000;
      const again = buy();
      for (const at of turn) gates[at]?.resolve();
      expect([await first, await again]).to.deep.equal([ROLLED, ROLLED]);
      expect([stage.paid.length, stage.spent]).to.deep.equal([1, 1]);
    }
  });

  it("is sent again by the call that follows a cancelled one, at once or later, or its late answer", async () => {
    const buy = stage.open(60_000);
    const late = Promise.withResolvers<never>();
    const never = new Promise<never>(() => {});
    for (const [answer, waitMs] of [
      [never, 0],
      [never, 5000],
      [late.promise, 0],
    ] as const) {
      Object.assign(stage, { paid: [], spent: 0, answers: [answer] });
      const cancelled = new AbortController();
      const first = buy(cancelled.signal);
      await eventually(() => stage.paid.length > 0);
      cancelled.abort();
      stage.now += waitMs;
      if (answer === late.promise) {
        late.resolve(ROLLED as never);
        await first;
      }
      expect(await buy()).to.equal(ROLLED);
      expect(stage.paid[1]).to.deep.equal(stage.paid[0]);
      expect(stage.spent).to.equal(1);
    }
  });

  it("is forgotten with its answer, also when the one to a cancelled call comes after that", async () => {
    const buy = stage.open(60_000);
    const late = Promise.withResolvers<never>();
    stage.answers = [late.promise];
    const cancelled = new AbortController();
    const first = buy(cancelled.signal);
    await eventually(() => stage.paid.length > 0);
    cancelled.abort();
    await buy();
    late.resolve(ROLLED as never);
    await first;
    await buy();
    expect(stage.paid[1]).to.deep.equal(stage.paid[0]);
    expect(stage.paid[2], "another purchase").to.not.deep.equal(stage.paid[0]);
  });

  it("without an answer is remembered for as long as its authorization can be used, and for 15 minutes", async () => {
    for (const [maxTimeoutSeconds, minutes] of [
      [3600, 60],
      [300, 15],
    ] as const) {
      const answers = Array.from({ length: 3 }, () => new Error("lost"));
      Object.assign(stage, { maxTimeoutSeconds, answers, paid: [], spent: 0, spending: createFolder() });
      const buy = stage.open(0);
      const lose = (): Promise<string> => buy().catch(({ code }: { code: string }) => code) as Promise<string>;
      expect(await lose()).to.equal("settlement-unknown");
      stage.now += (minutes - 1) * 60_000;
      expect(await lose()).to.equal("settlement-unknown");
      expect(stage.paid[1]).to.deep.equal(stage.paid[0]);
      stage.now += 2 * 60_000;
      expect(await lose()).to.equal("settlement-unknown");
      expect(stage.paid[2]).to.not.deep.equal(stage.paid[0]);
      expect(stage.spent).to.equal(2);
    }
  });

  it("that cannot be forgotten or noted, as on a disk that is read-only by now, does not hide what became of it", async () => {
    const due = Promise.withResolvers<never>();
    stage.answers = [due.promise, new Error("lost")];
    const bought = stage.open(0)();
    await eventually(() => stage.paid.length > 0);
    const [name = ""] = readdirSync(stage.spending).filter((one) => one.startsWith("payment-"));
    const file = join(stage.spending, name);
    rmSync(file);
    mkdirSync(join(file, "taken"), { recursive: true });
    due.resolve(ROLLED as never);
    expect(await bought, "the answer that was paid for").to.equal(ROLLED);

    stage.spending = createFolder();
    const unknown = stage
      .open(0)()
      .catch((error: { code: string }) => error.code);
    await eventually(() => stage.paid.length > 1);
    const [other = ""] = readdirSync(stage.spending).filter((one) => one.startsWith("payment-"));
    mkdirSync(join(stage.spending, `${other}.part`));
    expect(await unknown).to.equal("settlement-unknown");
  });

  it("is deleted by a later one once it is of no use to anybody, whatever it was for", async () => {
    const names = ["payment-of-another-call-1.json", "payment-of-another-call-2.json.part", "2026-11-30.jsonl"];
    for (const days of [1, 3]) {
      const at = new Date(stage.now - days * 24 * 60 * 60_000);
      for (const name of names) {
        writeFileSync(join(stage.spending, name), "{}");
        utimesSync(join(stage.spending, name), at, at);
      }
      await stage.open(60_000)();
      expect(readdirSync(stage.spending).sort(), `${days} days old`).to.deep.equal(
        (days === 1 ? names : names.slice(-1)).toSorted(),
      );
    }
  });
});
