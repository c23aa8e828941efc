import type { Log } from "../../api/capabilities.ts";
import { isDamaged, unlessDamaged } from "../damage.ts";
import { isObject } from "../json.ts";
import type { Store } from "../store.ts";
import type { Leases } from "../time/leases.ts";
import type { JobPayment } from "../x402/x402.ts";
import type { OpenRefund, RefundCase, RefundRecords } from "./records.ts";

/**
 * Finds in the book what was paid for a job or for owed work, and when (Unix milliseconds), where the record of its refund
 * is damaged.
 */
export type FindSold = (id: string) => Promise<(RefundCase & { readonly at: number }) | undefined>;

export interface RestoreRefundDeps {
  readonly store: Pick<Store, "get">;
  readonly records: Pick<RefundRecords, "read" | "update">;
  readonly leases: Pick<Leases, "claim">;
  readonly log: Log;
  /** Why a payment is refunded by hand; null when that is done automatically. */
  readonly whyManual: (payment: JobPayment) => OpenRefund["reason"];
  readonly findSold: FindSold;
}

/** Writes a damaged record anew from the book. True when that refund can go on. */
export type RestoreRefund = (id: string) => Promise<boolean>;

/** Tells the operator once of each refund that cannot be restored. */
export function createRestoreRefund(deps: RestoreRefundDeps): RestoreRefund {
  const { store, records, leases, log, whyManual, findSold } = deps;
  const told = new Set<string>();

  return async (id) => {
    const lease = await leases.claim(id);
    if (!lease) return false; // Another process restores it.
    try {
      if (!(await isLost(id))) return true;
      if (await isForeign(id)) return tellOfLoss(id, FOREIGN);
      const sold = await findSold(id);
      if (!sold) return tellOfLoss(id, UNKNOWN);
      const { at: openedAt, ...owed } = sold;
      const reason = whyManual(owed.payment);
      await records.update({ ...owed, openedAt, state: reason === null ? "pending" : "manual", reason });
      log.warn("refund.restored", { job: id, service: owed.service });
      return true;
    } finally {
      await lease.release();
    }
  };

  async function isLost(id: string): Promise<boolean> {
    try {
      await records.read(id);
      return false;
    } catch (error) {
      if (!isDamaged(error)) throw error;
      return true;
    }
  }

  /** Whether another version has left it in a state that this one does not know. */
  async function isForeign(id: string): Promise<boolean> {
    const record = await store.get<unknown>(`refund:${id}`).catch(unlessDamaged);
    const state = isObject(record) ? record.state : undefined;
    return typeof state === "string" && state !== "pending" && state !== "manual";
  }

  function tellOfLoss(id: string, reason: string): false {
    if (!told.has(id)) log.error("refund.damaged", { job: id, record: `refund:${id}`, reason });
    told.add(id);
    return false;
  }
}

const UNKNOWN =
  "Its record is damaged, and the book has no sale of it: find out who is owed what, pay it back, and delete the record";
const FOREIGN = "Another version of payphone has written it: only that one can pay it back";
