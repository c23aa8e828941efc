import { expect } from "chai";
import { type AttemptStage, MINUTE, openAttempts, PAYER, SIGNED, toCase } from "./attempts.ts";

describe("the attempts at a refund", () => {
  let stage: AttemptStage;
  beforeEach(() => {
    stage = openAttempts();
  });
  afterEach(() => stage.close());

  it("screen, check, sign, put on record, look, send and look, in this order", async () => {
    await stage.begin();
    expect(stage.did).to.deep.equal([
      "screen",
      `check ${PAYER} 1000`,
      `sign one ${PAYER} 1000`,
      "find",
      "send",
      "find",
    ]);
    expect(await stage.records.readWay("one")).to.deep.equal({ signed: SIGNED });
    expect(await stage.records.read("one")).to.include({ reason: "The transfer was sent, and is in no block yet" });
    expect(stage.logged).to.deep.equal(["info refund.opened", "warn refund.delayed"]);
  });

  it("come after 2, 4, 8 … seconds, ten minutes at most, and go on with what was signed", async () => {
    await stage.begin();
    const waits: number[] = [];
    for (let attempt = 0; attempt < 11; attempt += 1) {
      stage.did = [];
      let waitedMs = 0;
      while (stage.did.length === 0 && waitedMs < 20 * MINUTE) {
        await stage.time.pass(1000);
        waitedMs += 1000;
      }
      expect(stage.did).to.deep.equal(["find", "send", "find"]);
      waits.push(Math.round(waitedMs / 1000));
    }
    const wanted = [2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600];
    for (const [at, wait] of waits.entries())
      expect(wait, String(at)).to.be.within((wanted[at] ?? 0) - 1, (wanted[at] ?? 0) + 1);
  });

  it("are errors in the log when the refund is an hour old, and warnings until then", async () => {
    await stage.refunds.open(toCase());
    await stage.time.pass(60 * MINUTE);
    expect(stage.logged.slice(1)).to.include("warn refund.delayed").and.not.to.include("error refund.delayed");
    await stage.time.pass(10 * MINUTE);
    expect(stage.logged.at(-1)).to.equal("error refund.delayed");
  });

  it("tell of the transfer as soon as it is in a block, and watch it for a minute before they are over", async () => {
    stage.settle();
    await stage.begin();
    expect(stage.did.slice(3), "it was sent by an earlier attempt").to.deep.equal(["find"]);
    expect(await stage.refunds.status("one")).to.deep.equal({ refund_tx: "0xfe", refund_pending: null });
    expect(await stage.records.readEnd("one")).to.equal(undefined);
    await stage.time.pass(MINUTE - 1000);
    expect(stage.did.slice(3)).to.deep.equal(["find"]);
    await stage.time.pass(2000);
    expect(stage.did.slice(3)).to.deep.equal(["find", "find"]);
    expect(await stage.records.readEnd("one")).to.include({ transaction: "0xfe" });
    expect(await stage.store.get("refund:one")).to.equal(undefined);
    expect(await stage.refunds.status("one")).to.deep.equal({ refund_tx: "0xfe", refund_pending: null });
    await stage.time.pass(100 * MINUTE);
    expect(stage.did).to.have.length(5);
  });

  it("look first at the transaction that had the transfer, which a search may not reach any more after a long halt", async () => {
    stage.settle();
    await stage.begin();
    await stage.refunds.close();
    await stage.time.pass(24 * 60 * MINUTE);
    stage.open();
    stage.refunds.start();
    await stage.time.pass(1000);
    expect(stage.lookedAt).to.deep.equal([undefined, "0xfe"]);
    expect(await stage.records.readEnd("one")).to.include({ transaction: "0xfe" });
  });

  it("watch for another minute when the transfer is in another transaction now", async () => {
    stage.settle("0x01");
    await stage.begin();
    stage.settle("0x02");
    await stage.time.pass(MINUTE + 1000);
    expect(await stage.records.readEnd("one")).to.equal(undefined);
    expect(await stage.refunds.status("one")).to.include({ refund_tx: "0x02" });
    await stage.time.pass(MINUTE + 1000);
    expect(await stage.records.readEnd("one")).to.include({ transaction: "0x02" });
  });

  it("watch for another minute when a reorganisation has moved the same transaction to a later block", async () => {
    stage.settle();
    await stage.begin();
    stage.found = { state: "open" };
    stage.send = async () => stage.settle();
    await stage.time.pass(MINUTE + 1000);
    expect(stage.did.slice(3)).to.deep.equal(["find", "find", "send", "find"]);
    expect(await stage.records.readEnd("one")).to.equal(undefined);
    await stage.time.pass(MINUTE + 1000);
    expect(await stage.records.readEnd("one")).to.include({ transaction: "0xfe" });
  });

  it("show no transfer once a reorganisation has removed it, until it is in a block again", async () => {
    stage.settle();
    await stage.begin();
    expect(await stage.refunds.status("one")).to.deep.equal({ refund_tx: "0xfe", refund_pending: null });
    stage.found = { state: "open" };
    await stage.time.pass(MINUTE + 1000);
    expect(await stage.refunds.status("one")).to.deep.equal({ refund_tx: null, refund_pending: null });
  });

  it("watch for the whole minute, also when another process looks before it is over", async () => {
    stage.settle();
    await stage.refunds.open(toCase());
    await stage.time.pass(30_000);
    await stage.refunds.close();
    stage.open();
    stage.refunds.start();
    await stage.time.pass(20_000);
    expect(stage.did.slice(3)).to.deep.equal(["find", "find"]);
    expect(await stage.records.readEnd("one")).to.equal(undefined);
    await stage.time.pass(MINUTE);
    expect(await stage.records.readEnd("one")).to.include({ transaction: "0xfe" });
    expect(stage.logged.filter((line) => line.includes("refund.paid"))).to.deep.equal(["info refund.paid"]);
  });

  it("watch for a minute, and no longer, when the clock is set back meanwhile", async () => {
    let backMs = 0;
    await stage.refunds.close();
    stage.open({ clock: { now: () => stage.clock.now() - backMs } });
    stage.settle();
    await stage.begin();
    backMs = 60 * MINUTE;
    await stage.time.pass(MINUTE + 1000);
    expect(await stage.records.readEnd("one"), "it does not know how long it has watched").to.equal(undefined);
    await stage.time.pass(MINUTE + 1000);
    expect(await stage.records.readEnd("one")).to.include({ transaction: "0xfe" });
    expect(stage.logged.filter((line) => line.includes("refund.paid"))).to.deep.equal(["info refund.paid"]);
  });

  it("leave it to a person, as one that is owed, when the transfer was cancelled after a reorganisation", async () => {
    stage.settle();
    await stage.begin();
    stage.found = { state: "dead" };
    await stage.time.pass(MINUTE + 1000);
    expect(await stage.refunds.status("one")).to.deep.equal({ refund_tx: null, refund_pending: "manual" });
    expect(await stage.records.read("one"), "what payphone refunds lists").not.to.have.property("held");
  });
});
