import { writeSync } from "node:fs";
import type { Hex } from "../../../runtime/api/capabilities.ts";
import { createRefunds } from "../../../runtime/core/refunds/refunds.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import type { Store } from "../../../runtime/core/store.ts";
import { openStore } from "../../../runtime/drivers/store/open-store.ts";
import { failedJob, openRefundRail } from "./rail.ts";

/** What a process that makes one refund is told. */
export interface RefundChild {
  readonly dataDir: string;
  readonly url: string;
  readonly key: Hex;
  /** The job's id, and who has paid for it. */
  readonly id: string;
  readonly payer: Hex;
  /** At which of its steps it kills itself: there is one before and one after everything that changes anything. */
  readonly lastStep: number;
}

const { dataDir, url, key, id, payer, lastStep } = JSON.parse(process.argv[2] ?? "") as RefundChild;
let steps = 0;

/** Dies where it was told to: nothing is tidied up. */
function step(name: string): void {
  steps += 1;
  if (steps === lastStep) {
    writeSync(1, name);
    process.kill(process.pid, "SIGKILL");
  }
}

async function between<T>(name: string, work: () => Promise<T>): Promise<T> {
  step(`before ${name}`);
  const result = await work();
  step(`after ${name}`);
  return result;
}

const send = fetch;
globalThis.fetch = async (input, init) => {
  const { method } = JSON.parse(String(init?.body)) as { method: string };
  if (method !== "eth_sendRawTransaction") return send(input, init);
  return between(method, async () => {
    const response = await send(input, init);
    return new Response(await response.text(), response);
  });
};

const store = await openStore({ dataDir });

/** Who holds a lease is forgotten with the process anyway; the fee of a transaction is entered beside the refund. */
const BESIDE = ["refund-lease", "evm-fee"];

/** A write under a step that is named by the kind of its key. */
function write<T>(key: string, work: () => Promise<T>): Promise<T> {
  const kind = key.split(":")[0] as string;
  return BESIDE.includes(kind) ? work() : between(kind, work);
}

const watched: Store = {
  ...store,
  set: (key, ...rest) => write(key, () => store.set(key, ...rest)),
  delete: (key, ...rest) => write(key, () => store.delete(key, ...rest)),
  enter: (event, entry) => write(entry.key, () => store.enter(event, entry)),
  putIfAbsent: (key, ...rest) => write(key, () => store.putIfAbsent(key, ...rest)),
};
const rail = openRefundRail({ url, key, store: watched });
const refunds = createRefunds({
  store: watched,
  clock: { now: Date.now },
  log: silentLog,
  rail,
  screenRecipient: () => between("screening", async () => "clear" as const),
  firstMs: 20,
  sweepMs: 50,
  guardMs: 50,
  leaseMs: 60_000,
});
await refunds.open({ ...failedJob({ payer }), id });
const open = `refund:${id}`;
const waiting = setInterval(async () => {
  if ((await store.get(open)) !== undefined) return;
  clearInterval(waiting);
  await store.ping(); // What can be seen is told once it is synced.
  writeSync(1, "the end");
  process.kill(process.pid, "SIGKILL");
}, 10);
