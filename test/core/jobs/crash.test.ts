import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import type { BookLine } from "../../../runtime/core/books/books.ts";
import { auditBooks } from "../../support/books/audit-books.ts";
import { sharedSandbox, type TestSandbox } from "../../support/chains/chains.ts";
import { withRedis } from "../../support/programs.ts";
import {
  countSteps,
  type Errand,
  follow,
  insist,
  LANES,
  makePayment,
  openScene,
  ROUNDS,
  type Scene,
  toRounds,
} from "./crash-round.ts";
import { openErrands } from "./errands.ts";

/** How many writes there are at most from the record of a job to the end of its refund, each with a before and an after. */
const POINTS = 44;
const STRIDE = 20;
const PRICE = 1000n;

/** How long the next process took at most to deliver, or to pay back, from when it listened. */
const tell = (hits: readonly { fail: boolean; recoveryMs: number }[]): string =>
  [false, true]
    .map((kind) => Math.max(0, ...hits.filter(({ fail }) => fail === kind).map(({ recoveryMs }) => recoveryMs)))
    .map((ms, at) => `${at ? "refunded" : "delivered"} within ${Math.round(ms)} ms`)
    .join(", ");

for (const engine of ["SQLite", "Redis"] as const)
  (engine === "Redis" ? withRedis.describe : describe)(`a paid job and a crash, on ${engine}`, () => {
    let sandbox: TestSandbox;
    let shop: ReturnType<typeof openErrands>;
    let scenes: Scene[];
    let from: number;
    /** How many jobs were paid for. */
    let sold = 0;
    before(async () => {
      sandbox = await sharedSandbox();
      shop = openErrands();
      from = Date.now();
      scenes = await Promise.all(Array.from({ length: LANES }, () => openScene(engine, { sandbox, ...shop })));
    });
    after(() => Promise.all(scenes.map((scene) => scene.stop())));

    const spent = async (): Promise<bigint> => -(await sandbox.usdc.balanceOf(sandbox.description.buyer.evm.address));

    /** One crash, and what became of the job: whether there was one, and how long the next process took to end it. */
    async function crashAt(
      scene: Scene,
      point: number,
      fail: boolean,
    ): Promise<{ isHit: boolean; recoveryMs: number }> {
      const errand = { what: randomUUID(), fail };
      const label = `crash at ${point}, ${fail ? "a job that fails" : "a job that succeeds"}`;
      const first = await scene.running();
      const send = await makePayment(sandbox, first, errand);
      scene.crashAt(point, "job:");
      const before = await insist(send, first).catch(() => undefined);
      const isHit = before === undefined || (await follow(first, before).catch(() => undefined)) === undefined;
      const second = await scene.replace();
      const beganAt = performance.now();
      const id = await insist(send, second);
      if (before !== undefined) expect(id, label).to.equal(before);
      const status = await follow(second, id);
      const recoveryMs = performance.now() - beganAt;
      expect(status.status, label).to.equal(fail ? "FAILED" : "DELIVERED");
      expect(status.deliverable, label).to.deep.equal(fail ? null : { done: errand.what });
      expect(status.refund_tx !== null, label).to.equal(fail);
      const steps = countSteps(shop.log, errand);
      expect(Math.min(...steps), label).to.equal(1);
      expect(
        steps.reduce((sum, count) => sum + count),
        `${label}: only the step in which it died is repeated`,
      ).to.be.at.most(4);
      sold += 1;
      return { isHit, recoveryMs };
    }

    it("is handed back on SIGTERM: no step is done twice, and nobody who was charged goes without", async function () {
      this.timeout(ROUNDS > 0 ? 0 : 300_000);
      const scene = scenes[0] as Scene;
      for (let round = 0; round < (ROUNDS > 0 ? 20 : 1); round += 1) {
        const first = await scene.running();
        const errands = Array.from({ length: 10 }, (): Errand => ({ what: randomUUID(), pause_ms: 60 }));
        const before = await spent();
        const sends = await Promise.all(errands.map((errand) => makePayment(sandbox, first, errand)));
        const calls = sends.map((send) => send(first).catch(() => undefined));
        await Promise.race(calls);
        await sleep(round * 15); // Each round ends it a little later.
        const code = first.stop();
        const answers = await Promise.all(calls);
        expect(await code).to.equal(0);
        const charged = (await spent()) - before;
        sold += Number(charged / PRICE);
        expect(charged, "whoever was charged was answered").to.equal(
          BigInt(answers.filter((answer) => answer?.status === 200).length) * PRICE,
        );
        const second = await scene.replace();
        for (const [at, answer] of answers.entries()) {
          if (answer?.status !== 200) continue;
          const { job_id } = (await answer.json()) as { job_id: string };
          expect((await follow(second, job_id)).deliverable).to.deep.equal({ done: errands[at]?.what });
          expect(countSteps(shop.log, errands[at] as Errand)).to.deep.equal([1, 1, 1]);
        }
      }
    });

    it("is delivered once or refunded once, wherever kill -9 has met it, and charged once", async function () {
      this.timeout(ROUNDS > 0 ? 0 : 300_000);
      const rounds = toRounds(engine, POINTS, STRIDE);
      const before = await spent();
      const hits: { fail: boolean; recoveryMs: number }[] = [];
      const queue = [...rounds];
      const lane = async (scene: Scene): Promise<readonly BookLine[]> => {
        for (let next = queue.shift(); next; next = queue.shift()) {
          const { isHit, recoveryMs } = await crashAt(scene, next.point, next.fail);
          if (isHit) hits.push({ fail: next.fail, recoveryMs });
        }
        return scene.readBook();
      };
      const books = await Promise.all(scenes.map(lane));
      await auditBooks(sandbox, books.flat(), { from, sales: sold });
      const delivered = rounds.filter(({ fail }) => !fail).length;
      expect((await spent()) - before, "each delivered job was paid for, each failed one was paid back").to.equal(
        BigInt(delivered) * PRICE,
      );
      expect(hits.length).to.be.greaterThan(0);
      if (ROUNDS > 0) console.log(`      ${hits.length} of ${rounds.length} died; ${tell(hits)}`);
    });
  });
