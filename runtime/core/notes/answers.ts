import type { Clock, Log } from "../../api/capabilities.ts";
import type { SaleEvent } from "../books/events.ts";
import { createLateWrites } from "../books/late-writes.ts";
import { nullIfDamaged, unlessDamaged } from "../damage.ts";
import type { Store } from "../store.ts";

/** How a sale was answered, as far as known. Unix milliseconds. */
export interface SaleAnswer {
  /** When the paying call was answered. */
  readonly sentAt?: number;
  /** When the answer was ready although the buyer had disconnected. */
  readonly goneAt?: number;
  /** Later calls that fetched the answer with the same payment, or by its `payment-identifier`. */
  readonly later?: { readonly count: number; readonly lastAt: number };
}

/** `sent`: to the paying call; `gone`: the buyer had disconnected; `later`: to a later call, see `SaleAnswer`. */
export type AnswerWay = "sent" | "gone" | "later";

/**
 * Notes in memory how sales were answered, and writes it every few seconds: a crash loses the last seconds. While the store
 * takes no writes, notes wait.
 */
export interface SaleAnswers {
  /** @param begun when the call began: Unix milliseconds */
  note(sale: string, begun: number, way: AnswerWay): void;
  /** Writes what was noted. */
  flush(): Promise<void>;
}

export interface SaleAnswersDeps {
  readonly store: Pick<Store, "get" | "set" | "putIfAbsent">;
  readonly clock: Clock;
  readonly log: Log;
}

type Later = NonNullable<SaleAnswer["later"]>;

/** The answers of this process to calls that began in one minute: one entry of the store, rewritten as it grows. */
interface Sheet {
  readonly minute: number;
  /**
   * ` <sale> <time>` for each answer; the time is negative when the buyer had disconnected. A text is written many times
   * faster than an object.
   */
  text: string;
  count: number;
  /** Undefined until the sheet is written. */
  number?: number;
  isChanged: boolean;
}

const MINUTE_MS = 60_000;
const KEEP_MS = 90 * 24 * 60 * MINUTE_MS;
/** The most notes that wait to be written: far more than can be sold between two writes. */
const MOST = 20_000;
/** The size at which a sheet gets no more answers, since each change rewrites it. */
const FULL = 1000;
const MOST_SHEETS = 1000;

/** The sheets of one minute are numbered across all processes. */
const keyOf = (minute: number, sheet: number): string => `answered:${minute}:${sheet}`;
/** Earlier versions wrote an object under this key: the time by sale. */
const earlierKeyOf = (minute: number, sheet: number): string => `answers:${minute}:${sheet}`;
const laterKey = (sale: string): string => `answers-later:${sale}`;

export function createSaleAnswers({ store, clock, log }: SaleAnswersDeps): SaleAnswers {
  const sheets = new Set<Sheet>();
  let later = new Map<string, Later>();
  let noted = 0;
  const writes = createLateWrites(write, (error) => log.warn("books.answers-wait", { error }));

  async function write(): Promise<void> {
    const [fetched, taken] = [later, noted];
    later = new Map();
    noted = 0;
    await writeAll(fetched).catch((error: unknown) => {
      for (const [sale, { count, lastAt }] of fetched) noteLater(sale, count, lastAt);
      noted += taken;
      throw error;
    });
  }

  /** Removes from `fetched` what is written. */
  async function writeAll(fetched: Map<string, Later>): Promise<void> {
    const current = Math.floor(clock.now() / MINUTE_MS);
    for (const sheet of [...sheets]) {
      if (sheet.isChanged) await writeSheet(sheet);
      if ((sheet.minute < current || isFull(sheet)) && !sheet.isChanged) sheets.delete(sheet);
    }
    for (const [sale, { count, lastAt }] of fetched) {
      const known = await store.get<Later>(laterKey(sale)).catch(unlessDamaged);
      await store.set(laterKey(sale), { count: count + (known?.count ?? 0), lastAt }, KEEP_MS, "lazy");
      fetched.delete(sale);
    }
  }

  async function writeSheet(sheet: Sheet): Promise<void> {
    sheet.isChanged = false;
    await putSheet(sheet).catch((error: unknown) => {
      sheet.isChanged = true;
      throw error;
    });
  }

  async function putSheet(sheet: Sheet): Promise<void> {
    const { minute, number, text } = sheet;
    if (number !== undefined) return store.set(keyOf(minute, number), text, KEEP_MS, "lazy");
    for (let free = 0; free < MOST_SHEETS && sheet.number === undefined; free += 1)
      if (await store.putIfAbsent(keyOf(minute, free), text, KEEP_MS, "lazy")) sheet.number = free;
  }

  function noteFirst(sale: string, minute: number, at: number): void {
    let open: Sheet | undefined;
    for (const sheet of sheets) if (sheet.minute === minute && !isFull(sheet)) open = sheet;
    open ??= { minute, text: "", count: 0, isChanged: true };
    open.text += ` ${sale} ${at}`;
    open.count += 1;
    open.isChanged = true;
    sheets.add(open);
  }

  function noteLater(sale: string, more: number, at: number): void {
    const { count, lastAt } = later.get(sale) ?? { count: 0, lastAt: at };
    later.set(sale, { count: count + more, lastAt: Math.max(lastAt, at) });
  }

  return {
    note(sale, begun, way) {
      if (noted >= MOST) return;
      noted += 1;
      const now = clock.now();
      if (way === "later") noteLater(sale, 1, now);
      else noteFirst(sale, Math.floor(begun / MINUTE_MS), way === "sent" ? now : -now);
      writes.later();
    },
    flush: writes.flush,
  };
}

const isFull = ({ count }: Sheet): boolean => count >= FULL;

/** How a sale was answered; kept for 90 days. @throws Problem `unavailable`. */
export async function readSaleAnswer(
  store: Pick<Store, "get">,
  { id, times }: { readonly id: string; readonly times: SaleEvent["times"] },
): Promise<SaleAnswer> {
  const [at, later] = await Promise.all([
    times ? readFirst(store, Math.floor(times.begun / MINUTE_MS), id) : undefined,
    store.get<Later>(laterKey(id)).catch(unlessDamaged),
  ]);
  return {
    ...(at !== undefined && (at < 0 ? { goneAt: -at } : { sentAt: at })),
    ...(later && { later }),
  };
}

async function readFirst(store: Pick<Store, "get">, minute: number, sale: string): Promise<number | undefined> {
  const read = async <T>(toKey: typeof keyOf, find: (sheet: T) => number | undefined): Promise<number | undefined> => {
    for (let at = 0; at < MOST_SHEETS; at += 1) {
      const sheet = await store.get<T>(toKey(minute, at)).catch(nullIfDamaged);
      if (sheet === undefined) return undefined;
      const found = sheet === null ? undefined : find(sheet);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const found = await read<unknown>(keyOf, (text) => {
    if (typeof text !== "string") return undefined;
    const place = text.indexOf(` ${sale} `);
    return place < 0 ? undefined : Number.parseInt(text.slice(place + sale.length + 2), 10);
  });
  return found ?? read<Readonly<Record<string, number>>>(earlierKeyOf, (times) => times[sale]);
}
