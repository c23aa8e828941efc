import {
  correctionsKey,
  type ReversalEvent,
  refundId,
  reversalId,
  saleId,
  toBookPayer,
  toCorrections,
} from "../books/events.ts";
import { nullIfDamaged, readSound, toDamaged, unlessDamaged } from "../damage.ts";
import { isObject } from "../json.ts";
import type { Store } from "../store.ts";
import { authorizationId, type Eip3009 } from "../x402/eip3009.ts";
import type { JobPayment } from "../x402/x402.ts";

/** How long jobs, deliverables, refunds and reports are kept. */
export const JOB_KEEP_MS = 90 * 24 * 60 * 60_000;

/** A failed job or undelivered work that was paid for. */
export interface RefundCase {
  /** The id of the job, or of the undelivered work. */
  readonly id: string;
  readonly service: string;
  readonly payment: JobPayment;
}

export interface OpenRefund extends RefundCase {
  /** Milliseconds since the Unix epoch. */
  readonly openedAt: number;
  /** `pending`: refunded automatically. `manual`: the operator must act; this state never changes back. */
  readonly state: "pending" | "manual";
  /** A sentence for operators: why the refund is manual, or not paid yet. */
  readonly reason: string | null;
  /** The transfer's transaction and when it was found; watched until no reorganisation can remove it. */
  readonly held?: { readonly transaction: string; readonly at: number };
}

/**
 * How a refund is paid. Only the first recorded choice counts: afterwards either any process may send the signed
 * authorization, any number of times, or the operator's own transaction replaces it. `undone`: nothing is owed, since a
 * reorganisation has undone the payment for good, whose authorization is on record.
 */
export type RefundWay = { readonly signed: Eip3009 } | { readonly byHand: string } | { readonly undone: true };

export interface RefundEnd {
  /**
   * The transaction on the chain that has refunded the payment; null where the payment itself was undone; empty where the
   * record of an automatic one's end is damaged: nothing is owed any more, and the book knows the transaction.
   */
  readonly transaction: string | null;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  /** What was paid back, to whom; absent in older records, and where the record of the end is damaged. */
  readonly paid?: Pick<JobPayment, "network" | "asset" | "payer" | "amount">;
}

/** The records of refunds, all durable. Open refunds never expire. */
export interface RefundRecords {
  /** Records a refund; false when it is on record already. One that has ended is not opened again. */
  open(refund: OpenRefund): Promise<boolean>;
  /** @throws Problem `unavailable`, also when the record is damaged. */
  read(id: string): Promise<OpenRefund | undefined>;
  update(refund: OpenRefund): Promise<void>;
  /** All open refunds, unordered. @param onDamaged called with the id of each whose record cannot be read */
  list(onDamaged?: (id: string) => void): AsyncIterable<OpenRefund>;
  readWay(id: string): Promise<RefundWay | undefined>;
  /** Records the way of payment, and returns the way that counts. */
  choose(id: string, way: RefundWay): Promise<RefundWay>;
  /** Records the end, also in the book, where the sale of a payment that was undone is taken back. Only the first end counts. */
  end(refund: RefundCase, end: RefundEnd): Promise<void>;
  readEnd(id: string): Promise<RefundEnd | undefined>;
  /** The ends of the last 90 days, unordered. */
  ends(): AsyncIterable<RefundEnd>;
}

/** Records in the store, shared by the server and the command line. */
export function createRefundRecords(store: Store): RefundRecords {
  const readEnd = async (id: string): Promise<RefundEnd | undefined> => {
    const end = await store.get<unknown>(`refund-end:${id}`).catch(nullIfDamaged);
    return end === undefined || isEnd(end) ? end : toLost(await readWay(id).catch(unlessDamaged));
  };
  const readWay = (id: string): Promise<RefundWay | undefined> =>
    readSound(store, `refund-way:${id}`, isWay, "way to refund");

  /** Removes the record of a refund that has ended, which a crash, a slower process or another `open` may have left. */
  async function read(id: string): Promise<OpenRefund | undefined> {
    const key = `refund:${id}`;
    const refund = await store.get<unknown>(key).catch(nullIfDamaged);
    if (refund === undefined) return undefined;
    if (await readEnd(id)) {
      await store.delete(key);
      return undefined;
    }
    if (!isOpenRefund(refund)) throw toDamaged(key, "It is no refund as this version of payphone writes them");
    return refund;
  }

  /** The reversal of a sale; where the sale is taken back already, that one again. */
  async function toReversal({ network, signed }: JobPayment, at: number): Promise<ReversalEvent> {
    if (!signed) throw new TypeError("A payment without an authorization cannot be told to be undone");
    const key = `${network}:${authorizationId(signed.authorization)}`;
    const { times, transaction } = toCorrections(await store.get(correctionsKey(key)));
    const sale = saleId(key);
    return { kind: "reversal", id: reversalId("reversal", sale, times + 1 - (times % 2)), at, sale, transaction };
  }

  return {
    open: (refund) => store.putIfAbsent(`refund:${refund.id}`, refund),
    read,
    update: (refund) => store.set(`refund:${refund.id}`, refund),
    async *list(onDamaged) {
      for await (const key of store.keys("refund:")) {
        const id = key.slice("refund:".length);
        const refund = await read(id).catch((error: unknown) => {
          unlessDamaged(error);
          onDamaged?.(id);
        });
        if (refund) yield refund;
      }
    },
    readWay,
    async choose(id, way) {
      if (await store.putIfAbsent(`refund-way:${id}`, way)) return way;
      return (await readWay(id)) ?? way;
    },
    async end({ id, service, payment }, end) {
      if (!(await readEnd(id))) {
        const { network, asset, amount, payer } = payment;
        const { transaction, at } = end;
        const toEntry = (value: RefundEnd) => ({ key: `refund-end:${id}`, value, ttlMs: JOB_KEEP_MS });
        if (transaction === null) await store.enter(await toReversal(payment, at), toEntry(end));
        else {
          const paid = { job: id, service, network, asset, amount, payer: toBookPayer(network, payer), transaction };
          const entry = toEntry({ ...end, paid: { network, asset, payer, amount } });
          await store.enter({ kind: "refund", id: refundId(id), at, ...paid }, entry);
        }
      }
      await store.delete(`refund:${id}`);
    },
    readEnd,
    async *ends() {
      for await (const key of store.keys("refund-end:")) {
        const end = await readEnd(key.slice("refund-end:".length));
        if (end) yield end;
      }
    },
  };
}

/** Whether a record is an open refund as this version writes them. */
function isOpenRefund(record: unknown): record is OpenRefund {
  if (!isObject(record) || !isJobPayment(record.payment)) return false;
  const { id, service, openedAt, state, reason } = record;
  return (
    [id, service, reason ?? ""].every((text) => typeof text === "string") &&
    typeof openedAt === "number" &&
    (state === "pending" || state === "manual")
  );
}

const isEnd = (record: unknown): record is RefundEnd =>
  isObject(record) && (typeof record.transaction === "string" || record.transaction === null);

/** What the way tells of an end whose record is damaged: nothing of a transfer that payphone has signed. */
function toLost(way: RefundWay | undefined): RefundEnd {
  if (way && "undone" in way) return { transaction: null, at: 0 };
  return { transaction: way && "byHand" in way ? way.byHand : "", at: 0 };
}

const isWay = (record: unknown): record is RefundWay =>
  isObject(record) &&
  (typeof record.byHand === "string" ||
    record.undone === true ||
    (isObject(record.signed) && isObject(record.signed.authorization)));

/** Whether the record of a payment has all that its refund needs. */
export function isJobPayment(record: unknown): record is JobPayment {
  if (!isObject(record)) return false;
  const { network, asset, amount, payer, transaction } = record;
  const isText = [network, asset, amount, payer ?? "", transaction].every((text) => typeof text === "string");
  return isText && /^\d+$/.test(amount as string);
}
