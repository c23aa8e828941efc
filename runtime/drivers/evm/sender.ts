import PQueue from "p-queue";
import type { Clock, Hex, Log } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import type { Store } from "../../core/store.ts";
import { untilAborted } from "../http/retry.ts";
import type { TreasuryAccounts } from "../treasury.ts";
import type { EvmClient } from "./client.ts";
import { broadcast, type ChainView, outOfFunds, readView } from "./sender-chain.ts";
import { toFees } from "./sender-fees.ts";
import { createFlights, type Flight, type Flights, type FlightTimes } from "./sender-in-flight.ts";
import { createJournal, type Journal } from "./sender-journal.ts";
import { createSigner, type EvmInclusion, type Payload, type Signer } from "./sender-signer.ts";

export type { EvmInclusion } from "./sender-signer.ts";

/** What is to be sent; its nonce and its fees are the sender's business. */
export interface EvmCall {
  readonly to: Hex;
  readonly data?: Hex;
  /** Wei. */
  readonly value?: bigint;
  /** Left out: estimated, with a fifth on top. */
  readonly gas?: bigint;
}

/** A transaction that was signed, written down and handed to the node. It stays looked after, whoever waits for it. */
export interface EvmSubmission {
  /** Of its first form; a replacement at a higher fee has another. */
  readonly hash: Hex;
  /** Waits until the chain holds it. @throws Problem `upstream-failed` when it never can; the signal's reason. */
  included(signal: AbortSignal): Promise<EvmInclusion>;
}

/** Sends one account's transactions on one chain, in any number at once, from any number of processes on one Store. */
export interface EvmSender {
  /**
   * Signs and broadcasts; a signal counts until the signature. When it throws, nothing was sent, unless it was the store
   * that failed: Problem `upstream-failed` or `unavailable`; the signal's reason.
   */
  submit(call: EvmCall, signal: AbortSignal): Promise<EvmSubmission>;
  /** Submits, and waits for the inclusion. After a Problem `upstream-failed` the transaction may still be included. */
  send(call: EvmCall, signal: AbortSignal): Promise<EvmInclusion>;
  /** Ends all watching and waiting. */
  close(): void;
}

export interface EvmSenderOptions extends Partial<FlightTimes> {
  readonly client: EvmClient;
  readonly treasury: Pick<TreasuryAccounts, "evmAccount">;
  readonly store: Store;
  /** The most that one transaction may cost (gas × maxFeePerGas), in wei. A rollup's fee for its data comes on top. */
  readonly feeCapWei: bigint;
  readonly clock: Clock;
  readonly log: Log;
  /** How many blocks deep an inclusion counts; 1 is the block itself. */
  readonly confirmations?: number;
  /** How long `send` waits for the inclusion. */
  readonly includeMs?: number;
}

/** How long fees and counts that were read are good for. */
const VIEW_MS = 500;

/** Opens nothing: the first send does, and takes up what an earlier process left behind. */
export function createEvmSender(options: EvmSenderOptions): EvmSender {
  const { client, treasury, store, feeCapWei, clock, log, includeMs = 25_000 } = options;
  const { pollMs = 1000, rebroadcastMs = 4000, stuckMs = 15_000, confirmations = 1 } = options;
  const queue = new PQueue({ concurrency: 1 });
  const closing = new AbortController();
  let opening: Promise<Opened> | undefined;
  let seen: { readonly view: Promise<ChainView>; readonly at: number } | undefined;
  /** The first nonce that this process knows nothing of. */
  let next = 0;

  async function open(): Promise<Opened> {
    const signer = await createSigner(await treasury.evmAccount(), client.chainId);
    const { hash: genesis } = await client.ask((chain) => chain.getBlock({ blockNumber: 0n }));
    const journal = createJournal(store, { chainId: client.chainId, genesis }, signer.address);
    const { mined } = await readView(client, signer.address);
    const times = { pollMs, rebroadcastMs, stuckMs };
    const flights = createFlights({ client, signer, journal, feeCapWei, confirmations, clock, log, ...times });
    try {
      for (next = mined; await flights.adopt(next); next++);
    } catch (error) {
      flights.close();
      throw error;
    }
    return { signer, journal, flights };
  }

  function view(address: Hex): Promise<ChainView> {
    if (!seen || clock.now() - seen.at >= VIEW_MS) seen = { view: readView(client, address), at: clock.now() };
    return seen.view;
  }

  async function submit(call: EvmCall, callers: AbortSignal): Promise<EvmSubmission> {
    const signal = AbortSignal.any([callers, closing.signal]);
    signal.throwIfAborted();
    opening ??= open().catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    const opened = await untilAborted(opening, signal);
    const gas = call.gas ?? (await estimate(client, opened.signer.address, call, signal));
    const payload = { to: call.to, data: call.data ?? "0x", value: call.value ?? 0n, gas };
    const flight = await queue.add(() => launch(opened, payload, signal));
    return {
      hash: flight.attempts[0]!.hash,
      included: (waiting) => untilAborted(flight.outcome.promise, AbortSignal.any([waiting, closing.signal])),
    };
  }

  /** One at a time: takes the next nonce, signs, writes down, broadcasts. From the writing on, it cannot be called off. */
  async function launch(opened: Opened, payload: Payload, signal: AbortSignal): Promise<Flight> {
    const { signer, journal, flights } = opened;
    const { pooled, ...market } = await untilAborted(view(signer.address), signal);
    const fees = toFees(market, feeCapWei / payload.gas);
    if (!fees) throw tooDear(market.baseFee);
    for (let nonce = Math.max(next, pooled); ; nonce++) {
      signal.throwIfAborted();
      const attempt = await signer.sign(payload, nonce, fees);
      if (!(await journal.claim(nonce, 0, attempt))) continue; // Another process was faster.
      next = nonce + 1;
      const flight = flights.add(nonce, payload, [attempt]);
      await broadcast(client, attempt.raw).catch((error: unknown) => takeBack(opened, nonce, error));
      return flight;
    }
  }

  /** The chain refused it for good: its nonce is free again for the next one. */
  async function takeBack({ journal, flights }: Opened, nonce: number, error: unknown): Promise<never> {
    log.error("evm.refused", { chain: client.name, nonce, error });
    await journal.release(nonce);
    flights.drop(nonce);
    next = nonce;
    throw error;
  }

  function tooDear(baseFee: bigint): Problem {
    log.error("evm.fee-cap", { chain: client.name, baseFee: String(baseFee), feeCapWei: String(feeCapWei) });
    return new Problem("unavailable", `Transactions on ${client.name} cost more now than this service may pay`);
  }

  return {
    submit,
    async send(call, signal) {
      const submission = await submit(call, signal);
      const patience = AbortSignal.timeout(includeMs);
      return submission.included(AbortSignal.any([signal, patience])).catch((error: unknown) => {
        signal.throwIfAborted();
        throw patience.aborted ? tooLate(client, submission.hash, includeMs) : error;
      });
    },
    close() {
      closing.abort(new Problem("unavailable", "The service is shutting down"));
      opening?.then(
        ({ flights }) => flights.close(),
        () => {},
      );
    },
  };
}

interface Opened {
  readonly signer: Signer;
  readonly journal: Journal;
  readonly flights: Flights;
}

function tooLate({ name }: EvmClient, hash: Hex, ms: number): Problem {
  const detail = `The ${name} chain has not included transaction ${hash} within ${ms / 1000} seconds`;
  return new Problem("upstream-failed", detail);
}

async function estimate(client: EvmClient, account: Hex, call: EvmCall, signal: AbortSignal): Promise<bigint> {
  const { to, data = "0x", value = 0n } = call;
  try {
    const gas = await client.ask((chain) => chain.estimateGas({ account, to, data, value }), signal);
    return (gas * 6n) / 5n;
  } catch (error) {
    if (error instanceof Problem || signal.aborted) throw error;
    const { InsufficientFundsError } = await import("viem");
    throw error instanceof Error && error.cause instanceof InsufficientFundsError
      ? outOfFunds(client, error)
      : new Problem("upstream-failed", `The ${client.name} chain refused a transaction`, { cause: error });
  }
}
