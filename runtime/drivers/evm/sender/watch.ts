import type { Clock, Log } from "../../../api/capabilities.ts";
import { Problem } from "../../../api/problem.ts";
import type { EvmClient } from "../client.ts";
import { broadcast, type ChainView, findReceipt, readView } from "./chain.ts";
import { toRaisedFees } from "./fees.ts";
import type { Journal } from "./journal.ts";
import { hashesOf, newest, type PendingTransaction } from "./pending.ts";
import type { EvmInclusion, Payload, SignedAttempt, Signer } from "./signer.ts";
import { feeOf, type Spending } from "./spending.ts";

/** The times of the watch, all in milliseconds. */
export interface WatchTimes {
  /** The longest interval of polls; after a new transaction, polling starts faster and slows down to this. */
  readonly pollMs: number;
  /** After this time, a transaction that the node does not know is broadcast again. */
  readonly rebroadcastMs: number;
  /** After this time, the next transaction in line, if not mined, is replaced at a higher fee. */
  readonly stuckMs: number;
}

export interface WatchDeps extends WatchTimes {
  readonly client: EvmClient;
  readonly signer: Signer;
  readonly journal: Journal;
  /** The most that one transaction may cost, in wei. */
  readonly feeCapWei: bigint;
  readonly confirmations: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly spending: Spending;
}

/** Watches every pending transaction until it is final, even when no caller waits for it. */
export interface TransactionWatch {
  add(nonce: number, payload: Payload, attempts: SignedAttempt[]): PendingTransaction;
  /** Watches a nonce from the journal, claimed by this or another process; undefined when it is not claimed. */
  adopt(nonce: number): Promise<PendingTransaction | undefined>;
  /** How long the oldest transaction that is in no block has waited; 0 when there is none. */
  waitingMs(): number;
  /** Forgets a nonce whose transaction was refused. */
  drop(nonce: number): void;
  /** Stops watching. Pending transactions stay in the journal. */
  close(): void;
}

/** How long after its inclusion a transaction is broadcast again if a reorganisation drops it. */
const GUARD_MS = 60_000;
/** `pollMs` is multiplied by this when every transaction is included. */
const IDLE_FACTOR = 10;
/** `pollMs` is divided by this after a new transaction, since some chains include at once. */
const FAST_FACTOR = 16;
/** How many transactions are renewed per poll, and how many receipts are requested concurrently. */
const BATCH = 32;

export function createTransactionWatch(deps: WatchDeps): TransactionWatch {
  const { client, signer, journal, confirmations, clock, log, pollMs, rebroadcastMs, stuckMs } = deps;
  const byNonce = new Map<number, PendingTransaction>();
  let timer: NodeJS.Timeout | undefined;
  let dueAt = 0;
  let isPolling = false;
  let failures = 0;
  let paceMs = pollMs;
  let hole: { nonce: number; since: number } | undefined;
  let closed = false;

  /** Absolute: a clock that was set back delays nothing. */
  const sinceThen = (at: number): number => Math.abs(clock.now() - at);

  return {
    add,
    adopt,
    waitingMs: () =>
      [...byNonce.values()].reduce(
        (ms, { includedAt, sentAt }) => (includedAt === undefined ? Math.max(ms, sinceThen(sentAt)) : ms),
        0,
      ),
    drop: (nonce) => void byNonce.delete(nonce),
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };

  function add(nonce: number, payload: Payload, attempts: SignedAttempt[]): PendingTransaction {
    const now = clock.now();
    const outcome = Promise.withResolvers<EvmInclusion>();
    outcome.promise.catch(() => {}); // There may be no caller that still waits.
    const times = { sentAt: now, broadcastAt: now, signedAt: now, signedIn: undefined };
    const unseen = { includedAt: undefined, included: undefined, missingSince: undefined };
    const pending: PendingTransaction = { nonce, payload, attempts, outcome, ...times, ...unseen };
    if (isIdle()) paceMs = pollMs / FAST_FACTOR;
    byNonce.set(nonce, pending);
    schedule(paceMs);
    return pending;
  }

  async function adopt(nonce: number): Promise<PendingTransaction | undefined> {
    const attempts = (await journal.read(nonce)).map(signer.read);
    const known = byNonce.get(nonce);
    if (known || attempts.length === 0) return known;
    log.warn("evm.adopted", { chain: client.name, nonce, hash: newest(attempts).hash });
    return Object.assign(add(nonce, newest(attempts).payload, attempts), { broadcastAt: 0 });
  }

  /** Polls after `ms` milliseconds, or earlier when an earlier poll is scheduled. */
  function schedule(ms: number): void {
    if (closed || isPolling || (timer && dueAt <= clock.now() + ms)) return;
    clearTimeout(timer);
    dueAt = clock.now() + ms;
    timer = setTimeout(() => void poll(), ms);
  }

  /** Reads the chain once and acts on it. */
  async function poll(): Promise<void> {
    timer = undefined;
    isPolling = true;
    try {
      const view = await readView(client, signer.address);
      const all = [...byNonce.values()].sort((a, b) => a.nonce - b.nonce);
      const mined = all.filter(({ nonce }) => nonce < view.mined);
      const waiting = all.filter(({ nonce }) => nonce >= view.mined);
      for (let at = 0; at < mined.length; at += BATCH)
        await Promise.all(mined.slice(at, at + BATCH).map((pending) => confirm(pending, view)));
      await renew(waiting, view);
      await fillHole(waiting, view);
      failures = 0;
    } catch (error) {
      if (failures++ === 0) log.warn("evm.unreadable", { chain: client.name, error });
    }
    isPolling = false;
    paceMs = Math.min(2 * paceMs, pollMs);
    if (byNonce.size > 0) schedule(isIdle() ? pollMs * IDLE_FACTOR : paceMs * 2 ** Math.min(failures, 4));
  }

  function isIdle(): boolean {
    return [...byNonce.values()].every(({ includedAt }) => includedAt !== undefined);
  }

  /** Handles a used nonce: normally one of our hashes has used it. */
  async function confirm(pending: PendingTransaction, { block }: ChainView): Promise<void> {
    if (pending.includedAt !== undefined) {
      if (sinceThen(pending.includedAt) >= GUARD_MS) byNonce.delete(pending.nonce);
      return;
    }
    const receipt = await findReceipt(client, hashesOf(pending));
    if (!receipt) return markMissing(pending);
    pending.missingSince = undefined;
    const depth = block > receipt.blockNumber ? block - receipt.blockNumber + 1n : 1n;
    if (depth < confirmations) return;
    pending.includedAt = clock.now();
    const { transactionHash: hash, blockNumber, status, logs } = receipt;
    pending.included = pending.attempts.find((attempt) => attempt.hash === hash);
    // Before the outcome resolves, so that whoever learns of the block finds the fee in the book.
    await deps.spending.enter(pending.nonce, receipt, pending.payload.spentFor);
    pending.outcome.resolve({ hash, blockNumber, status, logs, feeWei: feeOf(receipt) ?? 0n, sentAt: pending.sentAt });
  }

  /** Used by a raised fee of another process, or the node lags. After `stuckMs`, a foreign transaction did. */
  async function markMissing(pending: PendingTransaction): Promise<void> {
    await reload(pending);
    pending.missingSince ??= clock.now();
    if (sinceThen(pending.missingSince) < stuckMs) return;
    byNonce.delete(pending.nonce);
    log.error("evm.nonce-lost", { chain: client.name, nonce: pending.nonce, hashes: hashesOf(pending) });
    const detail = `Another transaction took the place of this one on the ${client.name} chain`;
    pending.outcome.reject(new Problem("upstream-failed", detail));
  }

  /**
   * Broadcasts dropped transactions again with the same bytes, and replaces stuck ones. What was included before is not
   * stuck: callers know its hash. Nor is any while the chain makes no blocks: a higher fee would only cost more afterwards.
   */
  async function renew(waiting: readonly PendingTransaction[], view: ChainView): Promise<void> {
    const [first] = waiting; // What stands before it may be another process's, which has ended: its fee must rise, too.
    if (first && first.nonce > view.mined && sinceThen(first.signedAt) >= stuckMs) await adopt(view.mined);
    for (const pending of waiting.slice(0, BATCH)) {
      pending.signedIn ??= view.block;
      if (pending.includedAt !== undefined) pending.signedAt = clock.now(); // A reorganisation has dropped it.
      pending.includedAt = undefined;
      const { fees } = pending.included ?? newest(pending.attempts);
      const isPassedOver = pending.nonce === view.mined && pending.signedIn !== view.block;
      const isHeldBack = isPassedOver || fees.maxFeePerGas < view.baseFee;
      if (isHeldBack && sinceThen(pending.signedAt) >= stuckMs) await replace(pending, view);
      else if (pending.nonce >= view.pooled && sinceThen(pending.broadcastAt) >= rebroadcastMs) await send(pending);
    }
  }

  /** Signs a new attempt with the same nonce and payload and higher fees; the journal has it before the broadcast. */
  async function replace(pending: PendingTransaction, view: ChainView): Promise<void> {
    Object.assign(pending, { signedAt: clock.now(), signedIn: view.block });
    const fees = toRaisedFees(newest(pending.attempts).fees, view, deps.feeCapWei / pending.payload.gas);
    if (fees) {
      const attempt = await signer.sign(pending.payload, pending.nonce, fees);
      if (await journal.claim(pending.nonce, pending.attempts.length, attempt)) pending.attempts.push(attempt);
      else await reload(pending);
      pending.included = undefined;
      log.info("evm.replaced", { chain: client.name, nonce: pending.nonce, hash: newest(pending.attempts).hash });
    } else log.warn("evm.fee-cap", { chain: client.name, nonce: pending.nonce, baseFee: String(view.baseFee) });
    await send(pending);
  }

  async function send(pending: PendingTransaction): Promise<void> {
    pending.broadcastAt = clock.now();
    const { raw } = pending.included ?? newest(pending.attempts);
    await broadcast(client, raw).catch((error: unknown) =>
      log.warn("evm.refused", { chain: client.name, nonce: pending.nonce, error }),
    );
  }

  async function reload(pending: PendingTransaction): Promise<void> {
    const known = new Set(hashesOf(pending));
    const attempts = (await journal.read(pending.nonce)).filter(({ hash }) => !known.has(hash));
    pending.attempts.push(...attempts.map(signer.read));
  }

  /** Fills a lower nonce that neither the node nor this process knows: its sender crashed or it was lost. */
  async function fillHole(waiting: readonly PendingTransaction[], { pooled }: ChainView): Promise<void> {
    const isHole = waiting.some(({ nonce }) => nonce > pooled) && !byNonce.has(pooled);
    if (!isHole || hole?.nonce !== pooled) hole = isHole ? { nonce: pooled, since: clock.now() } : undefined;
    if (!hole || sinceThen(hole.since) < rebroadcastMs || (await adopt(pooled))) return;
    const payload = signer.nothing();
    const { fees } = newest(waiting[0]!.attempts);
    const attempt = await signer.sign(payload, pooled, fees);
    if (!(await journal.claim(pooled, 0, attempt))) return;
    log.warn("evm.hole-filled", { chain: client.name, nonce: pooled, hash: attempt.hash });
    await send(add(pooled, payload, [attempt]));
  }
}
