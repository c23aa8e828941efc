import { refundId, toBookPayer } from "../books/events.ts";
import type { Store } from "../store.ts";
import type { Eip3009 } from "../x402/eip3009.ts";
import type { JobPayment } from "../x402/x402.ts";

/** So long a job, its deliverable, its refund and its reports can be asked for. */
export const JOB_KEEP_MS = 90 * 24 * 60 * 60_000;

/** A failed job that was paid for. */
export interface RefundCase {
  /** The job's id. */
  readonly id: string;
  readonly service: string;
  readonly payment: JobPayment;
}

/** A refund that is not over. */
export interface OpenRefund extends RefundCase {
  /** Milliseconds since the Unix epoch. */
  readonly openedAt: number;
  /** Whether it was paid in the token in which refunds are made automatically, which is the one that `refund_tx` speaks of. */
  readonly isOnRail: boolean;
  /** `pending`: it is paid back by itself. `manual`: somebody has to see to it; it is never anything else again. */
  readonly state: "pending" | "manual";
  /** A sentence for operators: why it is manual, or why it is not paid back yet. */
  readonly reason: string | null;
  /** The transfer that the chain holds, and since when it is known; watched until no reorganisation can take it back. */
  readonly held?: { readonly transaction: string; readonly at: number };
}

/**
 * Who pays a refund. The first choice that is put on record is the only one: from then on either the signed authorization
 * may be sent, by anybody and any number of times, or the operator's own transaction stands in its place.
 */
export type RefundWay = { readonly signed: Eip3009 } | { readonly byHand: string };

/** A refund that is over. */
export interface RefundEnd {
  /** The chain's transaction that has paid it back. */
  readonly transaction: string;
  /** The same, where it is a USDC transfer on Base; null on every other rail. */
  readonly refund_tx: string | null;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
}

/** Refunds on record, all of them durably. What is open stays on record for as long as it takes. */
export interface RefundRecords {
  /** Puts a refund on record; false when it is there already. One that is over stays over. */
  open(refund: OpenRefund): Promise<boolean>;
  read(id: string): Promise<OpenRefund | undefined>;
  update(refund: OpenRefund): Promise<void>;
  /** All that are not over, in no order. */
  list(): AsyncIterable<OpenRefund>;
  readWay(id: string): Promise<RefundWay | undefined>;
  /** Puts the way on record, and gives back the one that counts. */
  choose(id: string, way: RefundWay): Promise<RefundWay>;
  /** Puts the end on record, and in the book. The first one counts. */
  end(refund: RefundCase, end: RefundEnd): Promise<void>;
  readEnd(id: string): Promise<RefundEnd | undefined>;
}

/** Records in the store that the server and the command line share. */
export function createRefundRecords(store: Store): RefundRecords {
  const readEnd = (id: string): Promise<RefundEnd | undefined> => store.get<RefundEnd>(`refund-end:${id}`);
  const readWay = (id: string): Promise<RefundWay | undefined> => store.get<RefundWay>(`refund-way:${id}`);

  /** A refund that is over may still be there, where a crash, a slower process or another `open` has left it. */
  async function read(id: string): Promise<OpenRefund | undefined> {
    const refund = await store.get<OpenRefund>(`refund:${id}`);
    if (!refund || !(await readEnd(id))) return refund;
    await store.delete(`refund:${id}`);
    return undefined;
  }

  return {
    open: (refund) => store.putIfAbsent(`refund:${refund.id}`, refund),
    read,
    update: (refund) => store.set(`refund:${refund.id}`, refund),
    async *list() {
      for await (const key of store.keys("refund:")) {
        const refund = await read(key.slice("refund:".length));
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
        const paid = { job: id, service, network, asset, amount, payer: toBookPayer(network, payer), transaction };
        const entry = { key: `refund-end:${id}`, value: end, ttlMs: JOB_KEEP_MS };
        await store.enter({ kind: "refund", id: refundId(id), at, ...paid }, entry);
      }
      await store.delete(`refund:${id}`);
    },
    readEnd,
  };
}
