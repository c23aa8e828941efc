import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import type { Hex } from "../../../runtime/api/capabilities.ts";
import { createRefunds } from "../../../runtime/core/refunds/refunds.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import { openBooks } from "../../../runtime/drivers/books/open-books.ts";
import { openStore, storeFileOf } from "../../../runtime/drivers/store/open-store.ts";
import { eventually } from "../../support/eventually.ts";
import { createFolder } from "../../support/folder.ts";
import type { RefundChild } from "./child.ts";
import { failedJob, openRefundRail, PRICE } from "./rail.ts";
import { openRefundStage, type RefundStage } from "./stage.ts";

const CHILD = join(import.meta.dirname, "child.ts");
/** Everything that changes anything, in its order. */
const STEPS = [
  "refund",
  "screening",
  "refund-way",
  "evm-call",
  "evm-tx",
  "eth_sendRawTransaction",
  "refund",
  "refund-end",
  "refund",
].flatMap((step) => [`before ${step}`, `after ${step}`]);
/** How many crashes are tried at the same time. */
const LANES = 3;

describe("a refund and a crash", () => {
  let stage: RefundStage;
  let folder: string;
  const ending = new AbortController();
  before(async () => {
    stage = await openRefundStage();
    folder = createFolder();
  });
  after(async () => {
    ending.abort();
    await stage.chain.stop();
  });

  /** Lets a process begin the refund, and die; gives its last words. */
  async function run(options: RefundChild): Promise<string> {
    const child = spawn(process.execPath, [CHILD, JSON.stringify(options)], {
      stdio: ["ignore", "pipe", "inherit"],
      signal: ending.signal,
    });
    child.on("error", () => {}); // It was ended by this test.
    return text(child.stdout);
  }

  /** Another process, at the same store, until the refund is over. */
  async function takeUp({ dataDir, url, key, id, payer }: RefundChild): Promise<string | null> {
    const store = await openStore({ dataDir });
    for await (const key of store.keys("refund-lease:")) await store.delete(key); // The dead process's has lapsed.
    const rail = openRefundRail({ url, key, store });
    const refunds = createRefunds({
      store,
      clock: { now: Date.now },
      log: silentLog,
      rail,
      screenRecipient: async () => "clear" as const,
      firstMs: 20,
      sweepMs: 50,
      guardMs: 50,
    });
    refunds.start();
    await refunds.open({ ...failedJob({ payer }), id }); // As the line of jobs does, until it was told that it is done.
    await eventually(async () => (await store.get(`refund:${id}`)) === undefined);
    const { refund_tx } = await refunds.status(id);
    await refunds.close();
    rail.close();
    await store.close();
    return refund_tx;
  }

  /** One crash, and what became of the money; gives the step at which it was. */
  async function crashAt(lastStep: number): Promise<string> {
    const { key } = await stage.fund();
    const { id, payment } = failedJob();
    const payer = payment.payer as Hex;
    const options = { dataDir: join(folder, id), url: stage.chain.url, key, id, payer, lastStep };
    const step = await run(options);
    const refund_tx = await takeUp(options);
    expect(await stage.transfersTo(payer), step).to.deep.equal([refund_tx]);
    expect(await stage.token.balanceOf(payer), step).to.equal(PRICE);
    const books = await openBooks({ file: storeFileOf(options.dataDir) });
    await books.refresh();
    const entered = books.since(0, 9).map(({ kind, job, transaction }) => [kind, job, transaction]);
    await books.close();
    expect(entered, `${step}: in the book once`).to.deep.equal([["refund", id, refund_tx]]);
    return step;
  }

  /** `npm test` kills before each step and at the end; `npm run test:crash` after each step, too. */
  it("is made exactly once, wherever kill -9 has met it", async function () {
    const isShort = process.env.CRASH_ROUNDS === undefined;
    this.timeout(isShort ? 300_000 : 0);
    const every = [...STEPS.keys(), STEPS.length];
    const waiting = isShort ? every.filter((at) => at % 2 === 0) : every;
    const lane = async (): Promise<void> => {
      for (let at = waiting.shift(); at !== undefined; at = waiting.shift())
        expect(await crashAt(at + 1)).to.equal(STEPS[at] ?? "the end");
    };
    await Promise.all(Array.from({ length: LANES }, lane));
  });
});
