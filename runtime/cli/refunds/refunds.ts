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
import type { Eip3009 } from "../../core/x402/eip3009.ts";
import { loadRails } from "../call/rails-file.ts";
import { openServerStore, type StorePlace } from "../config/server-store.ts";
import { base58Bytes } from "../config/values.ts";
import type { CheckPaid } from "./check-paid.ts";
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
        const transaction = toTransaction(refund, given);
        await holding(leases, transaction, () => close(records, refund, { job, transaction, checkPaid }));
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

async function close(
  records: RefundRecords,
  refund: OpenRefund,
  { job, transaction, checkPaid }: RefundByHand,
): Promise<void> {
  const isSigned = (way: RefundWay | undefined): way is { readonly signed: Eip3009 } =>
    refund.state === "pending" && way !== undefined && "signed" in way;
  const known = await records.readWay(job);
  if (!isSigned(known)) await checkPaid?.(refund, transaction, records);
  // Keeps a stalled server from signing a transaction of its own.
  const way = isSigned(known) ? known : await records.choose(job, { byHand: transaction });
  if (isSigned(way)) {
    const hindered = refund.reason === null ? "" : ` once this is mended: ${refund.reason}`;
    const says = `The refund of ${job} is signed: payphone makes it itself${hindered}`;
    throw new Problem("payment-conflict", `${says}. ${toCancel(way.signed)}`);
  }
  await records.end(refund, { transaction, at: Date.now() });
}

const toCancel = ({ authorization: { from, nonce } }: Eip3009): string =>
  `To pay it by hand, first cancel the authorization ${nonce} of ${from} at the token (cancelAuthorization)`;

/** The transaction as its chain writes it, so that `books verify` finds it. @throws Problem `bad-request`. */
function toTransaction({ payment }: OpenRefund, given: string): string {
  const isOnEvm = payment.network.startsWith("eip155:");
  const transaction = isOnEvm ? given.toLowerCase() : given;
  const isRight = isOnEvm ? /^0x[0-9a-f]{64}$/.test(transaction) : base58Bytes(transaction, 64) !== undefined;
  if (!isRight) throw new Problem("bad-request", `"${transaction}" is no transaction of ${payment.network}: ${RIGHT}`);
  if (transaction === (isOnEvm ? payment.transaction.toLowerCase() : payment.transaction))
    throw new Problem("bad-request", `${transaction} is the payment itself, not its refund`);
  return transaction;
}

const RIGHT = "on an EVM chain it is 0x and 64 hex digits, on Solana a signature of 64 bytes in base58";

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
  if (end) return new Problem("not-found", `The refund of ${job} is over: it was paid by ${end.transaction}`);
  return new Problem("not-found", `No refund of a job ${job} is open; "payphone refunds" lists those that are`);
}
