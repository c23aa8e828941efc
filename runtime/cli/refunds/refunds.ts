import { Problem } from "../../api/problem.ts";
import {
  createRefundRecords,
  type OpenRefund,
  type RefundRecords,
  type RefundWay,
} from "../../core/refunds/records.ts";
import { loadRails } from "../call/rails-file.ts";
import { openServerStore, type StorePlace } from "../config/server-store.ts";
import { base58Bytes } from "../config/values.ts";
import type { CheckPaid } from "./check-paid.ts";
import { type RefundRow, toRow } from "./text.ts";

/**
 * Lists the refunds that are not paid yet, oldest first.
 * @param dir its `manifests/_site.yaml` names the rails. @throws Problem `bad-request`, `unavailable`.
 */
export async function listRefunds(config: StorePlace, dir: string): Promise<readonly RefundRow[]> {
  const rails = await loadRails(dir);
  const open: OpenRefund[] = [];
  await withRecords(config, async (records) => {
    for await (const refund of records.list()) if (!refund.held) open.push(refund);
  });
  return open.sort((a, b) => a.openedAt - b.openedAt).map((refund) => toRow(refund, rails));
}

/** A refund that the operator has paid: the job's id, and the transaction. */
export interface RefundByHand {
  readonly job: string;
  readonly transaction: string;
  /** Asks the chain whether the transaction has paid it; when omitted, the operator's word counts. */
  readonly checkPaid?: CheckPaid | undefined;
}

/**
 * Closes a refund that was paid by hand, so that payphone never pays it. The server may be running.
 * @throws Problem `not-found` when none is open, `payment-conflict` when payphone is paying it, `bad-request`,
 *   `unavailable`; and what `checkPaid` throws.
 */
export async function closeRefund(
  config: StorePlace,
  { job, transaction: given, checkPaid }: RefundByHand,
): Promise<void> {
  await withRecords(config, async (records) => {
    const refund = await records.read(job);
    if (!refund) throw await toNothing(records, job);
    const isOnEvm = refund.payment.network.startsWith("eip155:");
    const transaction = isOnEvm ? given.toLowerCase() : given; // As chains write it, so that `books verify` finds it.
    const isRight = isOnEvm ? /^0x[0-9a-f]{64}$/.test(transaction) : base58Bytes(transaction, 64) !== undefined;
    if (!isRight)
      throw new Problem("bad-request", `"${transaction}" is no transaction of ${refund.payment.network}: ${RIGHT}`);
    if (transaction === (isOnEvm ? refund.payment.transaction.toLowerCase() : refund.payment.transaction))
      throw new Problem("bad-request", `${transaction} is the payment itself, not its refund`);
    const isSigned = (way: RefundWay | undefined): boolean =>
      refund.state === "pending" && way !== undefined && "signed" in way;
    const known = await records.readWay(job);
    if (!isSigned(known)) await checkPaid?.(refund.payment, transaction, records);
    // Keeps a stalled server from signing a transaction of its own.
    const way = isSigned(known) ? known : await records.choose(job, { byHand: transaction });
    if (isSigned(way))
      throw new Problem("payment-conflict", `The refund of ${job} is signed and under way; it is made without you`);
    await records.end(refund, { transaction, at: Date.now() });
  });
}

const RIGHT = "on an EVM chain it is 0x and 64 hex digits, on Solana a signature of 64 bytes in base58";

async function withRecords<T>(place: StorePlace, work: (records: RefundRecords) => Promise<T>): Promise<T> {
  const store = await openServerStore(place);
  try {
    return await work(createRefundRecords(store));
  } finally {
    await store.close();
  }
}

async function toNothing(records: RefundRecords, job: string): Promise<Problem> {
  const end = await records.readEnd(job);
  if (end) return new Problem("not-found", `The refund of ${job} is over: it was paid by ${end.transaction}`);
  return new Problem("not-found", `No refund of a job ${job} is open; "payphone refunds" lists those that are`);
}
