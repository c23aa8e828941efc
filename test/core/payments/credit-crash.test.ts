import { randomUUID } from "node:crypto";
import { expect } from "chai";
import type { BookLine } from "../../../runtime/core/books/books.ts";
import { auditBooks } from "../../support/books/audit-books.ts";
import { sharedSandbox, type TestSandbox } from "../../support/chains/chains.ts";
import { eventually } from "../../support/eventually.ts";
import { withRedis } from "../../support/programs.ts";
import type { Seller } from "../../support/sellers/seller.ts";
import {
  countSteps,
  LANES,
  makePayment,
  openScene,
  ROUNDS,
  type Scene,
  type Send,
  toRounds,
} from "../jobs/crash-round.ts";
import { openErrands } from "../jobs/errands.ts";

/** How many writes there are at most from the record of a payment to the end of its refund, each with a before and an after. */
const POINTS = 36;
const STRIDE = 12;
const PRICE = 1000n;

interface End {
  readonly done?: string;
  readonly refund_tx?: string | null;
}

/** Repeats the payment, as the answers tell, until the work is delivered or paid back. */
const insist = (send: Send, seller: Seller): Promise<End> =>
  eventually(
    async () => (await (await send(seller)).json()) as End,
    ({ done, refund_tx }) => done !== undefined || typeof refund_tx === "string",
    100,
  );

for (const engine of ["SQLite", "Redis"] as const)
  (engine === "Redis" ? withRedis.describe : describe)(`a call that is paid first and a crash, on ${engine}`, () => {
    let sandbox: TestSandbox;
    let shop: ReturnType<typeof openErrands>;
    before(async () => {
      sandbox = await sharedSandbox();
      shop = openErrands();
    });

    const spent = async (): Promise<bigint> => -(await sandbox.usdc.balanceOf(sandbox.description.buyer.evm.address));

    /** One crash, and what became of the payment: whether there was a crash. */
    async function crashAt(scene: Scene, point: number, fail: boolean): Promise<boolean> {
      const errand = { what: randomUUID(), fail };
      const label = `crash at ${point}, ${fail ? "work that fails" : "work that succeeds"}`;
      const first = await scene.running();
      const send = await makePayment(sandbox, first, errand, "/v1/chore");
      scene.crashAt(point, "payment:");
      const isHit = (await insist(send, first).catch(() => undefined)) === undefined;
      const { done, refund_tx } = await insist(send, await scene.replace());
      expect(done, label).to.equal(fail ? undefined : errand.what);
      expect(typeof refund_tx === "string", label).to.equal(fail);
      const steps = countSteps(shop.log, errand);
      expect(
        steps.reduce((sum, count) => sum + count),
        `${label}: only the step in which it died is repeated`,
      ).to.be.within(3, 4);
      return isHit;
    }

    it("is delivered once or paid back once, wherever kill -9 has met it, and charged once", async function () {
      this.timeout(ROUNDS > 0 ? 0 : 180_000);
      const rounds = toRounds(engine, POINTS, STRIDE);
      const from = Date.now();
      const before = await spent();
      const queue = [...rounds];
      let hits = 0;
      const lane = async (): Promise<readonly BookLine[]> => {
        const scene = await openScene(engine, { sandbox, ...shop });
        try {
          for (let next = queue.shift(); next; next = queue.shift())
            if (await crashAt(scene, next.point, next.fail)) hits += 1;
          return await scene.readBook();
        } finally {
          await scene.stop();
        }
      };
      const books = await Promise.all(Array.from({ length: LANES }, lane));
      await auditBooks(sandbox, books.flat(), { from, sales: rounds.length });
      const delivered = rounds.filter(({ fail }) => !fail).length;
      expect((await spent()) - before, "what was delivered was paid for, and what failed was paid back").to.equal(
        BigInt(delivered) * PRICE,
      );
      expect(hits).to.be.greaterThan(0);
      if (ROUNDS > 0) console.log(`      ${hits} of ${rounds.length} died`);
    });
  });
