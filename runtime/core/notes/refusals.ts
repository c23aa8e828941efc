import type { Clock, Log } from "../../api/capabilities.ts";
import { createLateWrites } from "../books/late-writes.ts";
import { nullIfDamaged } from "../damage.ts";
import { isObject } from "../json.ts";
import type { Store } from "../store.ts";

/** The refused calls of one payer. */
export interface BuyerRefusals {
  /** The payer that the payments name; only a valid signature would prove it. */
  readonly payer: string;
  /** Unix milliseconds. */
  readonly lastAt: number;
  /** The number of refusals by `refused:<reason>` or `failed:<problem code>`. */
  readonly counts: Readonly<Record<string, number>>;
}

/**
 * Counts refusals by payer in memory, and writes them every few seconds: a crash loses the last seconds. While the store takes
 * no writes, they wait.
 */
export interface Refusals {
  note(payer: string, what: string): void;
  /** Writes what was noted. */
  flush(): Promise<void>;
}

export interface RefusalsDeps {
  readonly store: Pick<Store, "set" | "putIfAbsent">;
  readonly clock: Clock;
  readonly log: Log;
}

interface Counted {
  at: number;
  readonly counts: Record<string, number>;
}
type Sheet = Readonly<Record<string, Counted>>;

const isSheet = (record: unknown): record is Sheet =>
  isObject(record) &&
  Object.values(record).every((each) => isObject(each) && typeof each.at === "number" && isObject(each.counts));

const DAY_MS = 24 * 60 * 60_000;
const KEEP_DAYS = 90;
/** The most payers per day and process: anybody can create wallets, so only the most frequent payers are kept. */
const MOST_PAYERS = 500;
/** Each start of each worker takes a sheet. */
const MOST_SHEETS = 1000;

const keyOf = (day: number, sheet: number): string => `refusals:${day}:${sheet}`;

/** What this process counts in one day. */
interface Today {
  readonly day: number;
  readonly payers: Map<string, Counted>;
  /** The number of its sheet; undefined until it is written. */
  sheet?: number;
}

/** Each process writes one sheet per day. */
export function createRefusals({ store, clock, log }: RefusalsDeps): Refusals {
  let today: Today = { day: 0, payers: new Map() };
  /** Days with counts that are to be written. */
  const unwritten = new Set<Today>();
  const writes = createLateWrites(write, (error) => log.warn("books.refusals-wait", { error }));

  async function write(): Promise<void> {
    for (const counted of [...unwritten]) {
      unwritten.delete(counted); // Before the write, during which more may be counted.
      await writeSheet(counted).catch((error: unknown) => {
        unwritten.add(counted);
        throw error;
      });
    }
  }

  async function writeSheet(counted: Today): Promise<void> {
    const { day, payers, sheet } = counted;
    const [value, ttlMs] = [Object.fromEntries(payers), KEEP_DAYS * DAY_MS];
    if (sheet !== undefined) return store.set(keyOf(day, sheet), value, ttlMs, "lazy");
    for (let free = 0; free < MOST_SHEETS && counted.sheet === undefined; free += 1)
      if (await store.putIfAbsent(keyOf(day, free), value, ttlMs, "lazy")) counted.sheet = free;
  }

  return {
    note(payer, what) {
      const now = clock.now();
      const day = Math.floor(now / DAY_MS);
      if (day !== today.day) today = { day, payers: new Map() };
      const { payers } = today;
      const known = payers.get(payer) ?? { at: now, counts: {} };
      known.at = now;
      known.counts[what] = (known.counts[what] ?? 0) + 1;
      if (!payers.has(payer) && payers.size >= MOST_PAYERS) payers.delete(leastOf(payers));
      payers.set(payer, known);
      unwritten.add(today);
      writes.later();
    },
    flush: writes.flush,
  };
}

const sumOf = ({ counts }: Pick<Counted, "counts">): number => Object.values(counts).reduce((sum, one) => sum + one, 0);

/** The payer with the fewest refusals; the oldest of several. */
function leastOf(payers: ReadonlyMap<string, Counted>): string {
  let [least, fewest] = ["", Number.POSITIVE_INFINITY];
  for (const [payer, counted] of payers) {
    const sum = sumOf(counted);
    if (sum < fewest) [least, fewest] = [payer, sum];
  }
  return least;
}

/** The refusals of the last days, today included, of all processes; the newest first. @throws Problem `unavailable`. */
export async function readRefusals(store: Pick<Store, "get">, now: number): Promise<readonly BuyerRefusals[]> {
  const today = Math.floor(now / DAY_MS);
  const sheets = await Promise.all(Array.from({ length: KEEP_DAYS }, (_, ago) => readDay(store, today - ago)));
  const payers = new Map<string, Counted>();
  for (const [payer, { at, counts }] of sheets.flat().flatMap((each) => Object.entries(each))) {
    const known = payers.get(payer) ?? { at, counts: {} };
    known.at = Math.max(known.at, at);
    for (const [what, count] of Object.entries(counts)) known.counts[what] = (known.counts[what] ?? 0) + count;
    payers.set(payer, known);
  }
  return [...payers]
    .map(([payer, { at, counts }]) => ({ payer, lastAt: at, counts }))
    .sort((one, other) => other.lastAt - one.lastAt);
}

async function readDay(store: Pick<Store, "get">, day: number): Promise<readonly Sheet[]> {
  const sheets: Sheet[] = [];
  for (let at = 0; at < MOST_SHEETS; at += 1) {
    const sheet = await store.get<unknown>(keyOf(day, at)).catch(nullIfDamaged);
    if (sheet === undefined) break;
    if (isSheet(sheet)) sheets.push(sheet);
  }
  return sheets;
}
