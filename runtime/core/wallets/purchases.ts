import type { Clock } from "../../api/capabilities.ts";
import type { BoughtCall, Purchases } from "../../api/purchases.ts";
import { unlessDamaged } from "../damage.ts";
import { sha256 } from "../digest.ts";
import { createJobRecords } from "../jobs/records.ts";
import { isObject } from "../json.ts";
import { payerOf, type VerifiedPurchase } from "../payments/purchase.ts";
import type { PaymentRecord } from "../payments/record.ts";
import { isKnownUnpaid, LISTED_MS, readRecord } from "../payments/reservations.ts";
import { createRefundRecords } from "../refunds/records.ts";
import type { Store } from "../store.ts";
import { pause } from "../time/deadline.ts";

export interface PurchaseList extends Purchases {
  /**
   * Reserves a place in the payer's list, in the same transaction as other writes of this turn; the returned function
   * writes the purchase there, once it is settled also later while the store refuses that, and never rejects. A place that
   * stays empty is not shown.
   */
  place(purchase: VerifiedPurchase): () => Promise<void>;
  /**
   * Writes a purchase that was settled late into the list, unless it is there: its process may have died before. Tries again
   * while the store refuses that. Never rejects.
   */
  placeLate(key: string, record: PaymentRecord): Promise<void>;
}

export interface PurchaseListDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** Told of purchases that could not be written into their list. */
  readonly onError?: (error: unknown) => void;
}

/** An entry of a list. It refers to the payment's record, which may expire earlier. */
interface Entry {
  readonly key: string;
  readonly service: string;
  /** Unix milliseconds. */
  readonly at: number;
}

/** An entry with its day and its place. */
type Placed = readonly [day: number, at: number, entry: Entry];

const DAY_MS = 24 * 60 * 60_000;
/** How many days before today a list shows. */
const DAYS = LISTED_MS / DAY_MS - 1;
const ID = /^(\d{5})-(\d{1,9})-([0-9a-f]{8})$/;

export function createPurchaseList({ store, clock, onError = () => {} }: PurchaseListDeps): PurchaseList {
  const refunds = createRefundRecords(store);
  const jobs = createJobRecords({ store, clock });
  const today = (): number => Math.floor(clock.now() / DAY_MS);
  const countKey = (account: string, day: number): string => `bought:${account}:${day}`;
  const entryKey = (account: string, day: number, at: number): string => `bought:${account}:${day}:${at}`;

  return {
    place({ payer, offer, key, service }) {
      if (payer === undefined) return async () => {};
      const write = reserve(payerOf(payer, offer), key, service.manifest.id);
      return () => write().catch((error: unknown) => placeAgain(key, error));
    },
    placeLate: (key, record) => placeUnlessListed(key, record).catch((error: unknown) => placeAgain(key, error)),
    async list(accounts, limit, { answers = true } = {}) {
      const lists = await Promise.all(accounts.map((account) => newest(account, limit, answers ? MOST_SHOWN : 0)));
      const shown = lists.flat().sort((a, b) => b.bought_at.localeCompare(a.bought_at));
      return shown.slice(0, limit);
    },
    async read(accounts, id) {
      const [, day = "", at = "", tag] = ID.exec(id) ?? [];
      const account = accounts.find((one) => toTag(one) === tag);
      if (account === undefined) return undefined;
      const entry = await store.get<unknown>(entryKey(account, Number(day), Number(at)));
      return isEntry(entry) ? show(account, [Number(day), Number(at), entry]) : undefined;
    },
  };

  function reserve(account: string, key: string, service: string): () => Promise<void> {
    const day = today();
    const counted = store.incr(countKey(account, day), 1, LISTED_MS, "lazy");
    const write = async (): Promise<void> => {
      const entry: Entry = { key, service, at: clock.now() };
      await store.set(entryKey(account, day, await counted), entry, LISTED_MS, "lazy");
    };
    counted.catch(() => {}); // `write` rejects with the same error.
    return write;
  }

  /** Lists a purchase that the store has refused to list, once it is known to be settled. */
  async function placeAgain(key: string, refused: unknown): Promise<void> {
    let last = refused;
    for (const ms of WAITS_MS) {
      await pause(ms, NEVER);
      try {
        const record = await readRecord(store, key);
        if (record?.state === "settled") return await placeUnlessListed(key, record);
        if (record?.state !== "settling") return;
      } catch (error) {
        last = error;
      }
    }
    onError(last);
  }

  async function placeUnlessListed(key: string, { payer, payment, service }: PaymentRecord): Promise<void> {
    if (payer === undefined) return;
    const account = payerOf(payer, payment.accepted);
    for await (const [, , entry] of entriesOf(account)) if (entry.key === key) return;
    await reserve(account, key, service)();
  }

  /** The entries of an account's list that are read for it, the newest first. */
  async function* entriesOf(account: string): AsyncGenerator<Placed> {
    for (let day = today(); day > today() - 1 - DAYS; day -= 1) {
      const count = (await store.get<number>(countKey(account, day))) ?? 0;
      for (let at = count; at > 0 && at > count - MOST_READ; at -= 1) {
        const entry = await store.get<unknown>(entryKey(account, day, at)).catch(unlessDamaged);
        if (isEntry(entry)) yield [day, at, entry];
      }
    }
  }

  /** @param room how many characters of answers are kept: all of them at once could be more than a process can hold */
  async function newest(account: string, limit: number, room: number): Promise<BoughtCall[]> {
    const found: BoughtCall[] = [];
    const keys = new Set<string>(); // One that was settled late can be in a long list twice.
    let left = room;
    for await (const placed of entriesOf(account)) {
      const [, , { key }] = placed;
      const purchase = keys.has(key) ? undefined : await show(account, placed).catch(unlessDamaged);
      keys.add(key);
      await new Promise((done) => setImmediate(done)); // Lets other work run: a record can have a large answer.
      if (!purchase) continue;
      left -= purchase.answer && left > 0 ? JSON.stringify(purchase.answer).length : 0;
      found.push(left > 0 ? purchase : { ...purchase, answer: null });
      if (found.length >= limit) break;
    }
    return found;
  }

  /** The state of a purchase; undefined when nothing was bought. */
  async function show(account: string, [day, at, entry]: Placed): Promise<BoughtCall | undefined> {
    const record = await readRecord(store, entry.key).catch(unlessDamaged);
    if (record?.state === "rejected") return undefined;
    if (!record && (await isKnownUnpaid(store, entry.key))) return undefined;
    const state = record && (await stateOf(record));
    if (state === "undone") return undefined;
    return {
      id: `${day}-${at}-${toTag(account)}`,
      service: entry.service,
      bought_at: new Date(entry.at).toISOString(),
      payer: account.slice(account.lastIndexOf(":") + 1),
      network: account.slice(0, account.lastIndexOf(":")),
      ...(record && state ? toBought(record, state) : FORGOTTEN),
    };
  }

  /** `undone`: a reorganisation has undone the payment for good. */
  async function stateOf({ state, owed, job }: PaymentRecord): Promise<BoughtCall["state"] | "undone"> {
    if (state !== "settled") return "settling";
    const work = owed?.id ?? job;
    if (work === undefined || (await jobs.readEnd(work))?.state === "DELIVERED") return "delivered";
    // Before `readEnd`: an end is recorded before the refund is removed.
    const refund = await refunds.read(work).catch(unlessDamaged);
    const end = await refunds.readEnd(work);
    if (end?.transaction === null) return "undone";
    return end || refund?.held ? "paid-back" : "paid";
  }
}

const isEntry = (record: unknown): record is Entry =>
  isObject(record) && typeof record.key === "string" && typeof record.at === "number";

/** How many entries of one day are read for one list: refused payments have entries but are not shown. */
const MOST_READ = 200;

/** The characters of answers in one account's list: more than the largest file that is sold. */
const MOST_SHOWN = 16 * 1024 * 1024;

/** The pauses before a purchase is listed after all: a store is seldom away for longer than they are together. */
const WAITS_MS: readonly number[] = [1000, 2000, 4000, 8000, 15_000, 30_000, 60_000];
const NEVER = new AbortController().signal;

const toTag = (account: string): string => sha256(account).slice(0, 8);

type Bought = Pick<BoughtCall, "state" | "asset" | "amount" | "transaction" | "job_id" | "answer">;

const FORGOTTEN: Bought = {
  state: "forgotten",
  asset: null,
  amount: null,
  transaction: null,
  job_id: null,
  answer: null,
};

/** The answer of a job is that it was accepted, and was sold before the work. */
function toBought(
  { state: payment, output, receipt, job, payment: { accepted } }: PaymentRecord,
  state: Bought["state"],
): Bought {
  const isAnswered = payment === "settled";
  const { asset, amount } = accepted;
  return {
    state,
    asset,
    amount,
    transaction: receipt?.transaction || null,
    job_id: isAnswered ? (job ?? null) : null,
    answer: isAnswered && isObject(output) ? output : null,
  };
}
