import PQueue from "p-queue";
import type { Clock, Hex, Log } from "../../../api/capabilities.ts";
import { Problem } from "../../../api/problem.ts";
import type { Store } from "../../../core/store.ts";
import { untilAborted } from "../../../core/time/deadline.ts";
import type { TreasuryAccounts } from "../../treasury.ts";
import type { EvmClient } from "../client.ts";
import { broadcast, type ChainView, estimate, readView, tooDear } from "./chain.ts";
import { type Market, toFees } from "./fees.ts";
import { createJournal, type Journal, type SignedBytes } from "./journal.ts";
import type { PendingTransaction } from "./pending.ts";
import { createSigner, type EvmInclusion, type Payload, type Signer } from "./signer.ts";
import { createSpending } from "./spending.ts";
import { createTransactionWatch, type TransactionWatch, type WatchTimes } from "./watch.ts";

/** A call to send. The sender chooses its nonce and fees. */
export interface EvmCall extends Pick<Payload, "to">, Partial<Pick<Payload, "data" | "value" | "spentFor">> {
  /** Estimated with a margin of 20 % when omitted. */
  readonly gas?: bigint;
  /** Identifies the call for `find`, in all processes that share the store. */
  readonly id?: string;
}

/** A transaction that was signed, journaled and broadcast. It is watched even when no caller waits for it. */
export interface EvmSubmission {
  /** The hash of the first version; a replacement at a higher fee has another hash. */
  readonly hash: Hex;
  /** Waits for its inclusion. @throws Problem `upstream-failed` when it can never be included; the signal's reason. */
  included(signal: AbortSignal): Promise<EvmInclusion>;
}

/** Sends the transactions of one account on one chain, concurrently and from several processes that share a Store. */
export interface EvmSender {
  /** The most that one transaction may cost (gas × price). */
  readonly feeCapWei: bigint;
  /**
   * Signs and broadcasts. The signal cancels only until the transaction is signed. A rejection means that nothing was
   * sent, except when the store failed. @throws Problem `upstream-failed` or `unavailable`; the signal's reason.
   */
  submit(call: EvmCall, signal: AbortSignal): Promise<EvmSubmission>;
  /** The submission of the call with this id, unless its transaction can never be included. @throws as `submit`. */
  find(id: string, signal: AbortSignal): Promise<EvmSubmission | undefined>;
  /** The gas prices that transactions use now. @throws Problem `upstream-failed`; the signal's reason. */
  market(signal: AbortSignal): Promise<Market>;
  /** How long the oldest transaction that is in no block has waited for one, in milliseconds. Reads memory only. */
  waitingMs(): number;
  /** Waits for the inclusion. After a Problem `upstream-failed`, the transaction may still be included. */
  wait(submission: EvmSubmission, signal: AbortSignal): Promise<EvmInclusion>;
  /** Submits and waits. */
  send(call: EvmCall, signal: AbortSignal): Promise<EvmInclusion>;
  /** Stops watching and waiting. */
  close(): void;
}

export interface EvmSenderOptions extends Partial<WatchTimes> {
  readonly client: EvmClient;
  readonly treasury: Pick<TreasuryAccounts, "evmAccount">;
  readonly store: Store;
  /** In wei. A rollup's data fee comes on top. */
  readonly feeCapWei: bigint;
  readonly clock: Clock;
  readonly log: Log;
  /** How many confirmations an inclusion needs; its own block counts as one. */
  readonly confirmations?: number;
  /** How long `wait` and `send` wait for the inclusion. */
  readonly includeMs?: number;
}

/** How long fees and transaction counts are reused. */
const VIEW_MS = 500;

/** The first send opens the sender, and adopts the pending transactions of earlier processes. */
export function createEvmSender(options: EvmSenderOptions): EvmSender {
  const { client, treasury, store, feeCapWei, clock, log, includeMs = 25_000 } = options;
  const { pollMs = 1000, rebroadcastMs = 4000, stuckMs = 15_000, confirmations = 1 } = options;
  const queue = new PQueue({ concurrency: 1 });
  const closing = new AbortController();
  let opening: Promise<Opened> | undefined;
  let watching: TransactionWatch | undefined;
  let seen: { readonly view: Promise<ChainView>; readonly at: number } | undefined;
  /** The first nonce that this process does not know. */
  let next = 0;
  /** Nonces whose claim failed in the store, although it may have been written. */
  const doubtful = new Set<number>();

  async function open(): Promise<Opened> {
    const signer = await createSigner(await treasury.evmAccount(), client.chainId);
    const { hash: genesis } = await client.ask((chain) => chain.getBlock({ blockNumber: 0n }));
    const journal = createJournal(store, { chainId: client.chainId, genesis }, signer.address);
    const { mined } = await readView(client, signer.address);
    const times = { pollMs, rebroadcastMs, stuckMs };
    const spending = createSpending({ client, journal, clock, log });
    const terms = { client, signer, journal, feeCapWei, confirmations, clock, log, spending };
    const watch = createTransactionWatch({ ...terms, ...times });
    try {
      for (next = mined; await watch.adopt(next); next++);
    } catch (error) {
      watch.close();
      throw error;
    }
    watching = watch;
    void spending.recover(mined);
    return { signer, journal, watch };
  }

  function view(address: Hex): Promise<ChainView> {
    if (!seen || Math.abs(clock.now() - seen.at) >= VIEW_MS)
      seen = { view: readView(client, address), at: clock.now() };
    return seen.view;
  }

  async function whenOpen(signal: AbortSignal): Promise<Opened> {
    signal.throwIfAborted();
    opening ??= open().catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return untilAborted(opening, signal);
  }

  async function submit(call: EvmCall, callers: AbortSignal): Promise<EvmSubmission> {
    const signal = AbortSignal.any([callers, closing.signal]);
    const opened = await whenOpen(signal);
    const gas = call.gas ?? (await estimate(client, opened.signer.address, call, signal));
    const { to, data = "0x", value = 0n, spentFor = { purpose: "other" } } = call;
    const payload: Payload = { to, data, value, gas, spentFor };
    const pending = await queue.add(() => launch(opened, payload, call.id, signal));
    return toSubmission(opened, pending, call.id);
  }

  async function find(id: string, callers: AbortSignal): Promise<EvmSubmission | undefined> {
    const signal = AbortSignal.any([callers, closing.signal]);
    const opened = await whenOpen(signal);
    const nonce = await opened.journal.recall(id);
    const pending = nonce === undefined ? undefined : await opened.watch.adopt(nonce);
    return pending && toSubmission(opened, pending, id);
  }

  function toSubmission({ journal }: Opened, { attempts, outcome }: PendingTransaction, id?: string): EvmSubmission {
    const forget = (): Promise<void> | undefined => (id === undefined ? undefined : journal.forget(id));
    outcome.promise.catch(forget).catch((error: unknown) => log.warn("evm.unforgotten", { chain: client.name, error }));
    return {
      hash: attempts[0]!.hash,
      included: (waiting) => untilAborted(outcome.promise, AbortSignal.any([waiting, closing.signal])),
    };
  }

  async function wait({ hash, included }: EvmSubmission, signal: AbortSignal): Promise<EvmInclusion> {
    const patience = AbortSignal.timeout(includeMs);
    return included(AbortSignal.any([signal, patience])).catch((error: unknown) => {
      signal.throwIfAborted();
      throw patience.aborted ? tooLate(client, hash, includeMs) : error;
    });
  }

  /** Claims the next nonce, signs, journals and broadcasts, one call at a time. Cannot be cancelled once journaled. */
  async function launch(
    opened: Opened,
    payload: Payload,
    id: string | undefined,
    signal: AbortSignal,
  ): Promise<PendingTransaction> {
    const { signer, journal, watch } = opened;
    for (const nonce of doubtful) if (await watch.adopt(nonce)) doubtful.delete(nonce);
    const { pooled, ...market } = await untilAborted(view(signer.address), signal);
    const fees = toFees(market, feeCapWei / payload.gas);
    if (!fees) {
      log.error("evm.fee-cap", { chain: client.name, baseFee: String(market.baseFee), feeCapWei: String(feeCapWei) });
      throw tooDear(client);
    }
    for (let nonce = Math.max(next, pooled); ; nonce++) {
      signal.throwIfAborted();
      const attempt = await signer.sign(payload, nonce, fees);
      if (id !== undefined) await journal.remember(id, nonce, attempt.hash);
      if (!(await claim(journal, nonce, attempt))) continue; // Another process was faster.
      next = nonce + 1;
      const pending = watch.add(nonce, payload, [attempt]);
      await broadcast(client, attempt.raw).catch((error: unknown) => takeBack(opened, nonce, error));
      return pending;
    }
  }

  async function claim(journal: Journal, nonce: number, attempt: SignedBytes): Promise<boolean> {
    return journal.claim(nonce, 0, attempt).catch((error: unknown) => {
      doubtful.add(nonce);
      throw error;
    });
  }

  /** Frees the nonce of a transaction that the node refused for good. */
  async function takeBack({ journal, watch }: Opened, nonce: number, error: unknown): Promise<never> {
    log.error("evm.refused", { chain: client.name, nonce, error });
    await journal.release(nonce);
    watch.drop(nonce);
    next = nonce;
    throw error;
  }

  return {
    feeCapWei,
    submit,
    find,
    async market(signal) {
      const { signer } = await whenOpen(signal);
      const { baseFee, tip } = await untilAborted(view(signer.address), signal);
      return { baseFee, tip };
    },
    waitingMs: () => watching?.waitingMs() ?? 0,
    wait,
    send: async (call, signal) => wait(await submit(call, signal), signal),
    close() {
      closing.abort(new Problem("unavailable", "The service is shutting down"));
      opening?.then(
        ({ watch }) => watch.close(),
        () => {},
      );
    },
  };
}

interface Opened {
  readonly signer: Signer;
  readonly journal: Journal;
  readonly watch: TransactionWatch;
}

function tooLate({ name }: EvmClient, hash: Hex, ms: number): Problem {
  const detail = `The ${name} chain has not included transaction ${hash} within ${ms / 1000} seconds`;
  return new Problem("upstream-failed", detail);
}
