import { withNoun } from "../../api/text.ts";
import { createRefundRecords } from "../../core/refunds/records.ts";
import type { Store } from "../../core/store.ts";
import { openStore, storeFileOf } from "../../drivers/store/open-store.ts";
import { hasStore, type StorePlace } from "./server-store.ts";

/**
 * What the embedded store in the data directory still has to do, where the shop keeps its state in Redis: a sentence;
 * undefined when there is nothing. Never rejects: a store that cannot be read is told.
 */
export async function explainLeftStore({ dataDir, redisUrl }: StorePlace): Promise<string | undefined> {
  if (redisUrl === undefined) return undefined;
  const file = storeFileOf(dataDir);
  try {
    if (!hasStore(dataDir)) return undefined;
    const store = await openStore({ dataDir });
    const left = await countLeft(store).finally(() => store.close());
    return left.length > 0 ? `${file} still has ${left.join(", ")}: ${MEND}` : undefined;
  } catch (error) {
    return `${file} cannot be read for what it still owes: ${(error as Error).message}`;
  }
}

async function countLeft(store: Store): Promise<readonly string[]> {
  const jobs = await count(store.keys("queue:"));
  const payments = await count(store.keys("open:"));
  const damaged = new Set<string>();
  let refunds = 0;
  for await (const { held } of createRefundRecords(store).list((id) => damaged.add(id))) if (!held) refunds += 1;
  return [
    ...toLine(jobs, "job"),
    ...toLine(refunds + damaged.size, "refund"),
    ...toLine(payments, "payment", " to be looked up or worked for"),
  ];
}

const toLine = (count: number, noun: string, more = ""): readonly string[] =>
  count > 0 ? [`${withNoun(count, noun)}${more}`] : [];

async function count(keys: AsyncIterable<string>): Promise<number> {
  let found = 0;
  for await (const _ of keys) found += 1;
  return found;
}

const MEND =
  "with REDIS_URL nobody does that. Start the shop without REDIS_URL, and away from its proxy, until it is done, and pay by hand what payphone refunds lists then";
