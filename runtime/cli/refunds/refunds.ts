import { Problem } from "../../api/problem.ts";
import { isDamaged } from "../../core/damage.ts";
import {
  createRefundRecords,
  type OpenRefund,
  type RefundRecords,
  type RefundWay,
} from "../../core/refunds/records.ts";
import type { Store } from "../../core/store.ts";
import { createLeases, type Leases } from "../../core/time/leases.ts";
import { EVM_HASH } from "../../core/transaction.ts";
import type { Eip3009 } from "../../core/x402/eip3009.ts";
import { loadRails } from "../call/rails-file.ts";
import { openServerStore, type StorePlace } from "../config/server-store.ts";
import { base58Bytes } from "../config/values.ts";
import type { CheckPaid } from "./check-paid.ts";
import type { CheckUndone } from "./check-undone.ts";
import { type RefundRow, toRow } from "./text.ts";

/**
 * Lists the refunds that are not paid yet, oldest first.
 * @param dir its `manifests/_site.yaml` names the rails
 * @param onDamaged called with a sentence about each whose record cannot be read
 * @throws Problem `bad-request`, `unavailable`.
 */
export async function listRefunds(
  config: StorePlace,
  dir: string,
  onDamaged?: (text: string) => void,
): Promise<readonly RefundRow[]> {
  const rails = await loadRails(dir);
  const open: OpenRefund[] = [];
  const tell = (id: string): void => onDamaged?.(`The record of the refund of ${id} is damaged: ${RENEWED}`);
  await withStore(config, async (store) => {
    for await (const refund of createRefundRecords(store).list(tell)) if (!refund.held) open.push(refund);
  });
  return open.sort((a, b) => a.openedAt - b.openedAt).map((refund) => toRow(refund, rails));
}

const RENEWED =
  "a running server writes it anew from the book within a minute, or its log says why it cannot (refund.damaged)";

/** A refund that the operator has paid, or that nobody is owed. */
export interface RefundByHand {
  readonly job: string;
  /** Null where the payment itself was undone. */
  readonly transaction: string | null;
  /** Asks the chain whether the transaction has paid it; when omitted, the operator's word counts. */
  readonly checkPaid?: CheckPaid | undefined;
  /** The same, whether the payment was undone. */
  readonly checkUndone?: CheckUndone | undefined;
}

/**
 * Closes a refund that was paid by hand, or that nobody is owed, so that payphone never pays it. The server may be running.
 * @throws Problem `not-found` when none is open, `payment-conflict` when payphone is paying it, `bad-request`,
 *   `unavailable`; and what `checkPaid` and `checkUndone` throw.
 */
export async function closeRefund(config: StorePlace, closing: RefundByHand): Promise<void> {
  const { job } = closing;
  await withStore(config, async (store) => {
    const records = createRefundRecords(store);
    // One at a time: two refunds would count the same transfer, and two operators would both close one refund.
    const leases = createLeases({ store, prefix: "lease:refund-close:", onError: () => {} });
    try {
      await holding(leases, job, async () => {
        const refund = await records.read(job).catch((error: unknown) => {
          if (!isDamaged(error)) throw error;
          throw new Problem("unavailable", `${(error as Error).message}: ${RENEWED}`);
        });
        if (!refund) throw await toNothing(records, job);
        if (closing.transaction === null) return closeUndone(records, refund, closing);
        const transaction = toTransaction(refund, closing.transaction);
        const checkPaid = (): Promise<void> | undefined => closing.checkPaid?.(refund, transaction, records);
        await holding(leases, transaction, () => close(records, refund, { byHand: transaction }, checkPaid));
      });
    } finally {
      leases.close();
    }
  });
}

/** @throws Problem `payment-conflict` while another command has the job or the transaction. */
async function holding(leases: Leases, key: string, work: () => Promise<void>): Promise<void> {
  const lease = await leases.claim(key);
  if (!lease) throw new Problem("payment-conflict", `Another "refunds close" is at work on ${key}: try again`);
  try {
    await work();
  } finally {
    await lease.release();
  }
}

async function closeUndone(records: RefundRecords, refund: OpenRefund, { checkUndone }: RefundByHand): Promise<void> {
  const { payment } = refund;
  if (!payment.signed) throw new Problem("bad-request", `${UNTOLD}: ${payment.transaction}`);
  await close(records, refund, { undone: true }, () => checkUndone?.(payment));
}

const UNTOLD =
  "Only a payment by an EIP-3009 authorization, which its chain takes once, can be known to be undone for good, and this is none";

async function close(
  records: RefundRecords,
  refund: OpenRefund,
  closing: Exclude<RefundWay, { readonly signed: Eip3009 }>,
  check: () => Promise<void> | undefined,
): Promise<void> {
  const { id: job } = refund;
  const isSigned = (way: RefundWay | undefined): way is { readonly signed: Eip3009 } =>
    refund.state === "pending" && way !== undefined && "signed" in way;
  const known = await records.readWay(job);
  if (!isSigned(known)) await check();
  // Keeps a stalled server from signing a transaction of its own.
  const way = isSigned(known) ? known : await records.choose(job, closing);
  if (isSigned(way)) {
    const hindered = refund.reason === null ? "" : ` once this is mended: ${refund.reason}`;
    const says = `The refund of ${job} is signed: payphone makes it itself${hindered}`;
    throw new Problem("payment-conflict", `${says}. ${toCancel(way.signed)}`);
  }
  await records.end(refund, { transaction: "byHand" in closing ? closing.byHand : null, at: Date.now() });
}

const toCancel = ({ authorization: { from, nonce } }: Eip3009): string =>
  `To pay it by hand, first cancel the authorization ${nonce} of ${from} at the token (cancelAuthorization)`;

/** The transaction as its chain writes it, so that `books verify` finds it. @throws Problem `bad-request`. */
function toTransaction({ payment }: OpenRefund, given: string): string {
  const isOnEvm = payment.network.startsWith("eip155:");
  const transaction = isOnEvm ? given.toLowerCase() : given;
  const isRight = isOnEvm ? EVM_HASH.test(transaction) : base58Bytes(transaction, 64) !== undefined;
  if (!isRight) throw new Problem("bad-request", `"${transaction}" is no transaction of ${payment.network}: ${RIGHT}`);
  if (transaction === (isOnEvm ? payment.transaction.toLowerCase() : payment.transaction))
    throw new Problem("bad-request", `${transaction} is the payment itself, not its refund`);
  return transaction;
}

const RIGHT = "on an EVM chain it is 0x and 64 hex digits, on Solana a signature of 64 bytes in base58";

const SHOWN = '"payphone sales show" with the job has its transaction';

async function withStore<T>(place: StorePlace, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openServerStore(place);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

async function toNothing(records: RefundRecords, job: string): Promise<Problem> {
  const end = await records.readEnd(job);
  if (end?.transaction === "")
    return new Problem("not-found", `The refund of ${job} is over, and the record of its end is damaged. ${SHOWN}`);
  const how = end?.transaction === null ? "its payment was undone" : `it was paid by ${end?.transaction}`;
  if (end) return new Problem("not-found", `The refund of ${job} is over: ${how}`);
  return new Problem("not-found", `No refund of a job ${job} is open; "payphone refunds" lists those that are`);
}
