import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import { createClaims } from "../../../runtime/core/payments/claims.ts";
import type { PaymentRecord } from "../../../runtime/core/payments/record.ts";
import type { Settlement } from "../../../runtime/core/payments/settlement.ts";
import { createFacilitatorTrust, type FacilitatorTrust } from "../../../runtime/core/payments/trust.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import { createScriptedRail } from "../../support/chains/scripted-rail.ts";
import { eventually } from "../../support/eventually.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";

const BASE = "eip155:8453";
const POLYGON = "eip155:137";
const NOW = 1_800_000_000_000;
const DAY = 24 * 60 * 60_000;
const base = createScriptedRail({ facilitator: ["first", "second"] }).manifest;
const polygon = createScriptedRail({ id: "polygon", network: POLYGON, facilitator: "first" }).manifest;

describe("the trust in a facilitator", () => {
  let now: number;
  let changes: number;
  let store: ReturnType<typeof createMemoryStore>;
  let trust: FacilitatorTrust;
  const clock = { now: () => now };
  const create = (): FacilitatorTrust => {
    const made = createFacilitatorTrust({ site: { rails: [base, polygon] }, store, clock, log: silentLog });
    made.watch(() => {
      changes += 1;
    });
    return made;
  };
  beforeEach(() => {
    [now, changes] = [NOW, 0];
    store = createMemoryStore(clock.now);
    trust = create();
  });
  const lie = (facilitator: string, transaction: string, claimedAt = now, network = BASE): void =>
    trust.withdraw({ facilitator, network, payment: `of ${transaction}`, transaction, claimedAt });

  it("is withdrawn from one on one network, with the transaction that is not there", () => {
    expect(trust.distrusted()).to.deep.equal([]);
    lie("first", "0xfe");
    const reason =
      "The facilitator first reported the settlement 0xfe at 2027-01-15T08:00:00.000Z, and the chain does not show it";
    expect(trust.reasonAgainst("first", BASE)).to.equal(reason);
    expect(trust.reasonAgainst("second", BASE)).to.equal(undefined);
    expect(trust.reasonAgainst("first", POLYGON)).to.equal(undefined);
    expect(trust.distrusted()).to.deep.equal([{ facilitator: "first", network: BASE, reason, since: NOW }]);
    expect(changes).to.equal(1);
  });

  it("takes a rail down once none of its facilitators is trusted", () => {
    lie("first", "0x1");
    expect(trust.reasonAgainstAll(base)).to.equal(undefined);
    lie("second", "0x2");
    expect(trust.reasonAgainstAll(base)).to.match(/^The facilitator first reported the settlement 0x1 /);
    expect(trust.reasonAgainstAll(polygon)).to.equal(undefined);
    lie("first", "0x3", now, POLYGON);
    expect(trust.reasonAgainstAll(polygon)).to.match(/settlement 0x3 /);
  });

  it("is withdrawn once: the first doubt is the one that counts", () => {
    lie("first", "0x1");
    lie("first", "0x2");
    expect(trust.reasonAgainst("first", BASE)).to.match(/settlement 0x1 /);
    expect(changes).to.equal(1);
  });

  it("comes back after a day", () => {
    lie("first", "0xfe");
    now += DAY - 1;
    expect(trust.reasonAgainst("first", BASE)).to.be.a("string");
    now += 1;
    expect([trust.reasonAgainst("first", BASE), trust.distrusted()]).to.deep.equal([undefined, []]);
  });

  it("comes back, too, once a clock that was years ahead is set back: nobody waits for it to catch up", () => {
    lie("first", "0xfe");
    now -= DAY - 1;
    expect(trust.reasonAgainst("first", BASE)).to.be.a("string");
    now -= 700 * DAY;
    expect(trust.reasonAgainst("first", BASE)).to.equal(undefined);
    lie("first", "0xff");
    expect(trust.reasonAgainst("first", BASE)).to.match(/settlement 0xff /);
  });

  it("comes back, in all processes, when the chain shows that transaction after all, and no other", async () => {
    const other = create();
    lie("first", "0xfe");
    await eventually(async () => {
      await other.refresh();
      return other.reasonAgainst("first", BASE) !== undefined;
    });
    trust.restore({ payment: "of another", transaction: "0xfe" });
    trust.restore({ payment: "of 0xfe", transaction: "0xab" }); // Somebody else has settled it.
    expect(trust.reasonAgainst("first", BASE)).to.be.a("string");
    trust.restore({ payment: "of 0xfe", transaction: "0xfe" });
    expect(trust.reasonAgainst("first", BASE)).to.equal(undefined);
    await eventually(async () => {
      await other.refresh();
      return other.reasonAgainst("first", BASE) === undefined;
    });
    lie("first", "0xfd", now, POLYGON);
    trust.restore({ payment: "of 0xfd", transaction: "0xab" }); // Nobody else settles there.
    expect(trust.reasonAgainst("first", POLYGON)).to.equal(undefined);
  });

  it("comes back when the operator says so, for what was reported until then, in all processes", async () => {
    const other = create();
    lie("first", "0x1");
    lie("first", "0x2", now, POLYGON);
    lie("second", "0x3");
    now += 1000;
    expect(await trust.trustAgain("first")).to.equal(2);
    expect(await trust.trustAgain("first")).to.equal(0);
    await other.refresh();
    for (const one of [trust, other]) {
      one.withdraw({ facilitator: "first", network: BASE, payment: "k", transaction: "0x4", claimedAt: NOW });
      expect(one.reasonAgainst("first", BASE), "the same lie, looked at again").to.equal(undefined);
      expect(one.reasonAgainst("second", BASE)).to.be.a("string");
    }
    now += 1;
    lie("first", "0x5");
    expect(trust.reasonAgainst("first", BASE)).to.match(/settlement 0x5 /);
    const refusal = await trust.trustAgain("third").catch((error: unknown) => error);
    expect(refusal)
      .to.be.instanceOf(Problem)
      .with.property("message", "No rail is settled by a facilitator third; there are: first, second");
  });

  it("is not withdrawn again by a process that has not read yet that it is trusted again", async () => {
    const late = create();
    lie("first", "0x1");
    await trust.refresh();
    now += 1000;
    await trust.trustAgain("first");
    late.withdraw({ facilitator: "first", network: BASE, payment: "k", transaction: "0x1", claimedAt: NOW });
    await eventually(() => late.reasonAgainst("first", BASE) === undefined);
    await trust.refresh();
    expect(trust.reasonAgainst("first", BASE)).to.equal(undefined);
  });
});

describe("a report that the chain does not show", () => {
  it("reverses a sale in the book, and nothing where none was entered", async () => {
    const corrected: string[][] = [];
    const correctSale = async (...terms: string[]): Promise<void> => void corrected.push(terms);
    const clock = { now: () => 0 };
    const claims = createClaims({
      reservations: { correctSale },
      onClaim: () => {},
      clock,
      log: silentLog,
      claimMs: 0,
    });
    const receipt = { success: false, transaction: "0x01", network: "eip155:8453" };
    const seen = { state: "unknown", receipt, isFinal: false, isClaimed: true, isReadable: true } as const;
    for (const state of ["settling", "settled"] as const)
      await claims.judge(state, { state, receipt } as unknown as PaymentRecord, seen);
    expect(corrected).to.deep.equal([["settled", "reversal"]]);
  });
});

describe("a settlement that a facilitator claims again and again", () => {
  it("is false a minute after the first claim, however new the last one is", async () => {
    let now = 0;
    const judged: boolean[] = [];
    const claims = createClaims({
      reservations: { correctSale: async () => {} },
      onClaim: (_key, _record, { isTrue }) => judged.push(isTrue),
      clock: { now: () => now },
      log: silentLog,
      claimMs: 60_000,
    });
    const network = "eip155:8453";
    const record = { state: "settling", payment: { accepted: { network } } } as unknown as PaymentRecord;
    const receipt = { success: false, transaction: "0x2", network };
    const claimed: Settlement = { state: "unknown", receipt, isFinal: false, isClaimed: true, isReadable: true };
    for (now = 0; now < 60_000; now += 20_000) await claims.judge("key", record, claimed);
    expect(judged).to.deep.equal([]);
    await claims.judge("key", record, claimed);
    expect(judged).to.deep.equal([false]);
  });

  it("is not kept in memory once its payment is dead, or is not looked for any more", async () => {
    let now = 0;
    const clock = { now: () => now };
    const claims = createClaims({
      reservations: { correctSale: async () => {} },
      onClaim: () => {},
      clock,
      log: silentLog,
      claimMs: 60_000,
    });
    const record = { state: "settling" } as PaymentRecord;
    const receipt = { success: false, transaction: "0x2", network: "eip155:8453" };
    const claimed: Settlement = { state: "unknown", receipt, isFinal: false, isClaimed: true, isReadable: true };
    for (const key of ["dead", "done", "open"]) await claims.judge(key, record, claimed);
    now = 90_000;
    await claims.judge("dead", record, { state: "rejected", receipt, isFinal: true });
    claims.forget("done");
    expect(["dead", "done", "open"].map(claims.sinceOf)).to.deep.equal([now, now, 0]);
  });
});
