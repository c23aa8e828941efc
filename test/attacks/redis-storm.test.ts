import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import type { AcceptedJob } from "../../runtime/core/jobs/jobs.ts";
import { countSteps, follow } from "../core/jobs/crash-round.ts";
import { openErrands } from "../core/jobs/errands.ts";
import { sharedSandbox, type TestSandbox } from "../support/chains/chains.ts";
import { eventually } from "../support/eventually.ts";
import { withRedis } from "../support/programs.ts";
import { type Fleet, HAZARDS, openFleet } from "./support/fleet.ts";
import { type Buyer, openBuyer, type Purchase, type Ware } from "./support/purchases.ts";

/** `npm test` lets it blow for a moment; `npm run test:crash` says for how long. */
const SECONDS = Number(process.env.STORM_SECONDS ?? 0);
const SHORT_SECONDS = 8;
const BUYERS = 12;
const PRICE = 1000n;
/** Between two hazards, on average. */
const HAZARD_MS = 1500;
const REPEAT_MS = 200;
/**
 * The longest that anything may stay unanswered when it is calm: a wait for an answer that was lost, a lease, the attempts
 * of a credit or a settlement, on a busy machine. A lease that goes on being renewed would take for ever.
 */
const MOST_OPEN_MS = 30_000;
const WARES: readonly Ware[] = ["draw", "draw", "draw", "chore", "errand", "failing"];
/** In progress, or to be repeated: unavailable, paid but not delivered, too many in flight, and a process that is dead. */
const TO_BE_REPEATED: readonly number[] = [409, 503, 502, 429, 0];

const any = <T>(all: readonly T[]): T => all[Math.floor(Math.random() * all.length)] as T;

withRedis.describe("three processes on one Redis, killed at random, cut off, and their Redis killed, too", () => {
  let sandbox: TestSandbox;
  let shop: ReturnType<typeof openErrands>;
  let fleet: Fleet;
  let buyer: Buyer;
  before(async () => {
    sandbox = await sharedSandbox();
    shop = openErrands();
    fleet = await openFleet({ sandbox, ...shop });
    buyer = await openBuyer(sandbox, fleet.urls[0] as string);
  });
  after(() => fleet?.stop());
  const spent = async (): Promise<bigint> => -(await sandbox.usdc.balanceOf(sandbox.description.buyer.evm.address));

  /** Buys one thing after the other, and repeats each call at any process while the answer says so. */
  async function shopUntil(untilMs: number, purchases: Purchase[]): Promise<void> {
    while (performance.now() < untilMs) {
      const purchase = await buyer.order(any(WARES));
      purchases.push(purchase);
      while (TO_BE_REPEATED.includes(await buyer.send(purchase, any(fleet.urls))) && performance.now() < untilMs)
        await sleep(REPEAT_MS);
    }
  }

  async function blowUntil(untilMs: number): Promise<void> {
    while (performance.now() < untilMs) {
      void fleet.strike(any(HAZARDS));
      await sleep(HAZARD_MS * (0.5 + Math.random()));
    }
    await fleet.calm();
  }

  /** Repeats a call at a process until it is answered: at once when it was before. */
  async function fetchAnswer(purchase: Purchase, urlOf: () => string): Promise<void> {
    await eventually(
      () => buyer.send(purchase, urlOf()),
      (status) => !TO_BE_REPEATED.includes(status),
      REPEAT_MS,
    );
    const unforeseen = purchase.statuses.filter((status) => !TO_BE_REPEATED.includes(status));
    expect(unforeseen, JSON.stringify(purchase)).to.deep.equal([]);
  }

  async function checkJob(isFailing: boolean, what: string, { job_id }: AcceptedJob): Promise<void> {
    const { status, deliverable } = await follow({ url: any(fleet.urls) }, job_id);
    expect(status).to.equal(isFailing ? "FAILED" : "DELIVERED");
    expect(deliverable).to.deep.equal(isFailing ? null : { done: what });
  }

  /** Whether the work of a purchase was done, and how many of its steps were done again. */
  async function checkWork({ ware, what, answer }: Purchase): Promise<number> {
    if (ware === "draw") return 0;
    if (ware === "chore") expect(answer?.body).to.deep.equal({ done: what });
    else await checkJob(ware === "failing", what, answer?.body as AcceptedJob);
    const counts = countSteps(shop.log, { what });
    expect(Math.min(...counts), `${ware}: each step was done`).to.be.at.least(1);
    return counts.reduce((sum, count) => sum + count) - counts.length;
  }

  it("lose nothing and charge nothing twice: what was paid is obtainable at each of them", async function () {
    const seconds = SECONDS || SHORT_SECONDS;
    this.timeout(seconds * 1000 + 600_000);
    const purchases: Purchase[] = [];
    const before = await spent();
    const untilMs = performance.now() + seconds * 1000;
    await Promise.all([blowUntil(untilMs), ...Array.from({ length: BUYERS }, () => shopUntil(untilMs, purchases))]);

    const calmMs = performance.now();
    const open = purchases.filter(({ answer }) => !answer);
    await Promise.all(open.map((purchase) => fetchAnswer(purchase, () => any(fleet.urls))));
    const openMs = open.length > 0 ? performance.now() - calmMs : 0;
    for (const url of fleet.urls) await Promise.all(purchases.map((purchase) => fetchAnswer(purchase, () => url)));
    const repeated = await Promise.all(purchases.map(checkWork));

    const kept = purchases.filter(({ ware }) => ware !== "failing").length;
    expect((await spent()) - before, "each was charged once, and those that failed were paid back once").to.equal(
      BigInt(kept) * PRICE,
    );
    expect(new Set(purchases.map(({ answer }) => answer?.transaction)).size).to.equal(purchases.length);
    expect(openMs).to.be.below(MOST_OPEN_MS);
    expect(Object.values(fleet.struck).every((times) => times > 0) || !SECONDS).to.equal(true);
    if (SECONDS) {
      const steps = repeated.reduce((sum, count) => sum + count);
      const struck = Object.entries(fleet.struck).map(([hazard, times]) => `${hazard} ${times}`);
      console.log(
        `      ${purchases.length} payments in ${seconds} s (${purchases.length - kept} paid back); ${struck.join(", ")}`,
      );
      console.log(
        `      ${open.length} open when it was calm, the last answered after ${Math.round(openMs)} ms; ${steps} steps done again`,
      );
    }
  });
});
