import type { Clock, Hex, Log } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import type { EvmClient } from "./client.ts";
import { broadcast, type ChainView, findReceipt, readView } from "./sender-chain.ts";
import { toRaisedFees } from "./sender-fees.ts";
import type { Journal } from "./sender-journal.ts";
import type { Attempt, EvmInclusion, Payload, Signer } from "./sender-signer.ts";

/** One claimed nonce on its way into the chain. Its payload never changes; only its fees may rise. */
export interface Flight {
  readonly nonce: number;
  readonly payload: Payload;
  /** Every signed form of it, the newest last. */
  readonly attempts: Attempt[];
  /** Unix milliseconds of the first broadcast. */
  readonly sentAt: number;
  /** Settles when the chain holds it deep enough, or when it never can. */
  readonly outcome: PromiseWithResolvers<EvmInclusion>;
  broadcastAt: number;
  signedAt: number;
  /** Unix milliseconds since when the chain has held it deep enough. */
  includedAt: number | undefined;
  /** Since when its nonce is used and none of its hashes is in the chain. */
  missingSince: number | undefined;
}

/** How patiently transactions are watched, in milliseconds. */
export interface FlightTimes {
  /** Between two looks at the chain, at most: after a first transaction they come quickly, and then ever slower. */
  readonly pollMs: number;
  /** After so long, a transaction that the node does not have is handed to it again. */
  readonly rebroadcastMs: number;
  /** After so long, a transaction that is next and not mined is replaced at a higher fee. */
  readonly stuckMs: number;
}

export interface FlightDeps extends FlightTimes {
  readonly client: EvmClient;
  readonly signer: Signer;
  readonly journal: Journal;
  /** The most that one transaction may cost, in wei. */
  readonly feeCapWei: bigint;
  readonly confirmations: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** Watches over everything that was sent until the chain holds it for good, whether or not somebody still waits. */
export interface Flights {
  add(nonce: number, payload: Payload, attempts: Attempt[]): Flight;
  /** Takes up a nonce that this or another process claimed before; false when nobody did. */
  adopt(nonce: number): Promise<boolean>;
  /** Forgets a nonce whose transaction was refused. */
  drop(nonce: number): void;
  /** Ends the watch. What is on its way stays in the journal. */
  close(): void;
}

/** So long after its inclusion, a transaction is brought back when a reorganisation drops it. */
const GUARD_MS = 60_000;
/** While nothing waits, the chain is looked at so many times less often … */
const CALM = 10;
/** … and when something begins to, so many times more often: some chains include at once. */
const EAGER = 16;
/** How many transactions one look renews, and how many receipts it asks for at once. */
const BATCH = 32;

export function createFlights(deps: FlightDeps): Flights {
  const { client, signer, journal, confirmations, clock, log, pollMs, rebroadcastMs, stuckMs } = deps;
  const flights = new Map<number, Flight>();
  let timer: NodeJS.Timeout | undefined;
  let dueAt = 0;
  let isLooking = false;
  let failures = 0;
  let paceMs = pollMs;
  let hole: { nonce: number; since: number } | undefined;
  let closed = false;

  return {
    add,
    adopt,
    drop: (nonce) => void flights.delete(nonce),
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };

  function add(nonce: number, payload: Payload, attempts: Attempt[]): Flight {
    const now = clock.now();
    const outcome = Promise.withResolvers<EvmInclusion>();
    outcome.promise.catch(() => {}); // Its sender may have left.
    const times = { sentAt: now, broadcastAt: now, signedAt: now };
    const flight = { nonce, payload, attempts, outcome, ...times, includedAt: undefined, missingSince: undefined };
    if (isCalm()) paceMs = pollMs / EAGER;
    flights.set(nonce, flight);
    schedule(paceMs);
    return flight;
  }

  async function adopt(nonce: number): Promise<boolean> {
    const attempts = (await journal.read(nonce)).map(signer.read);
    if (attempts.length === 0) return false;
    if (!flights.has(nonce)) {
      log.warn("evm.adopted", { chain: client.name, nonce, hash: newest(attempts).hash });
      add(nonce, newest(attempts).payload, attempts).broadcastAt = 0;
    }
    return true;
  }

  /** Looks again after so many milliseconds, or earlier if that was planned. */
  function schedule(ms: number): void {
    if (closed || isLooking || (timer && dueAt <= clock.now() + ms)) return;
    clearTimeout(timer);
    dueAt = clock.now() + ms;
    timer = setTimeout(() => void look(), ms);
  }

  /** One look at the chain, and whatever it calls for. */
  async function look(): Promise<void> {
    timer = undefined;
    isLooking = true;
    try {
      const view = await readView(client, signer.address);
      const all = [...flights.values()].sort((a, b) => a.nonce - b.nonce);
      const mined = all.filter(({ nonce }) => nonce < view.mined);
      const waiting = all.filter(({ nonce }) => nonce >= view.mined);
      for (let at = 0; at < mined.length; at += BATCH)
        await Promise.all(mined.slice(at, at + BATCH).map((flight) => follow(flight, view)));
      await renew(waiting, view);
      await fillHole(waiting, view);
      failures = 0;
    } catch (error) {
      if (failures++ === 0) log.warn("evm.unreadable", { chain: client.name, error });
    }
    isLooking = false;
    paceMs = Math.min(2 * paceMs, pollMs);
    if (flights.size > 0) schedule(isCalm() ? pollMs * CALM : paceMs * 2 ** Math.min(failures, 4));
  }

  function isCalm(): boolean {
    return [...flights.values()].every(({ includedAt }) => includedAt !== undefined);
  }

  /** A nonce that is used: by one of our hashes, as a rule. */
  async function follow(flight: Flight, { block }: ChainView): Promise<void> {
    const now = clock.now();
    if (flight.includedAt !== undefined) {
      if (now - flight.includedAt >= GUARD_MS) flights.delete(flight.nonce);
      return;
    }
    const receipt = await findReceipt(client, hashesOf(flight));
    if (!receipt) return missed(flight);
    flight.missingSince = undefined;
    const depth = block > receipt.blockNumber ? block - receipt.blockNumber + 1n : 1n;
    if (depth < confirmations) return;
    flight.includedAt = now;
    const { transactionHash: hash, blockNumber, status, logs } = receipt;
    flight.outcome.resolve({ hash, blockNumber, status, logs, sentAt: flight.sentAt });
  }

  /** Perhaps another process raised the fee, perhaps the node lags behind; in the end, somebody else used the nonce. */
  async function missed(flight: Flight): Promise<void> {
    await reload(flight);
    flight.missingSince ??= clock.now();
    if (clock.now() - flight.missingSince < stuckMs) return;
    flights.delete(flight.nonce);
    log.error("evm.nonce-lost", { chain: client.name, nonce: flight.nonce, hashes: hashesOf(flight) });
    const detail = `Another transaction took the place of this one on the ${client.name} chain`;
    flight.outcome.reject(new Problem("upstream-failed", detail));
  }

  /** Hands dropped transactions to the node again, the same bytes, and replaces stuck ones. */
  async function renew(waiting: readonly Flight[], view: ChainView): Promise<void> {
    for (const flight of waiting.slice(0, BATCH)) {
      flight.includedAt = undefined; // A reorganisation may have taken it back.
      const now = clock.now();
      const { fees } = newest(flight.attempts);
      const isHeldBack = flight.nonce === view.mined || fees.maxFeePerGas < view.baseFee;
      if (isHeldBack && now - flight.signedAt >= stuckMs) await replace(flight, view);
      else if (flight.nonce >= view.pooled && now - flight.broadcastAt >= rebroadcastMs) await send(flight);
    }
  }

  /** Same nonce, same payload, higher fees: a new attempt, written down before it goes out. */
  async function replace(flight: Flight, view: ChainView): Promise<void> {
    flight.signedAt = clock.now();
    const fees = toRaisedFees(newest(flight.attempts).fees, view, deps.feeCapWei / flight.payload.gas);
    if (fees) {
      const attempt = await signer.sign(flight.payload, flight.nonce, fees);
      if (await journal.claim(flight.nonce, flight.attempts.length, attempt)) flight.attempts.push(attempt);
      else await reload(flight);
      log.info("evm.replaced", { chain: client.name, nonce: flight.nonce, hash: newest(flight.attempts).hash });
    } else log.warn("evm.fee-cap", { chain: client.name, nonce: flight.nonce, baseFee: String(view.baseFee) });
    await send(flight);
  }

  async function send(flight: Flight): Promise<void> {
    flight.broadcastAt = clock.now();
    await broadcast(client, newest(flight.attempts).raw).catch((error: unknown) =>
      log.warn("evm.refused", { chain: client.name, nonce: flight.nonce, error }),
    );
  }

  async function reload(flight: Flight): Promise<void> {
    const known = new Set(hashesOf(flight));
    const attempts = (await journal.read(flight.nonce)).filter(({ hash }) => !known.has(hash));
    flight.attempts.push(...attempts.map(signer.read));
  }

  /** A nonce below ours that neither the node nor we have: its owner crashed, or it was sent by other hands and lost. */
  async function fillHole(waiting: readonly Flight[], { pooled }: ChainView): Promise<void> {
    const isHole = waiting.some(({ nonce }) => nonce > pooled) && !flights.has(pooled);
    if (!isHole || hole?.nonce !== pooled) hole = isHole ? { nonce: pooled, since: clock.now() } : undefined;
    if (!hole || clock.now() - hole.since < rebroadcastMs || (await adopt(pooled))) return;
    const payload = signer.nothing();
    const { fees } = newest(waiting[0]!.attempts);
    const attempt = await signer.sign(payload, pooled, fees);
    if (!(await journal.claim(pooled, 0, attempt))) return;
    log.warn("evm.hole-filled", { chain: client.name, nonce: pooled, hash: attempt.hash });
    await send(add(pooled, payload, [attempt]));
  }
}

const newest = (attempts: readonly Attempt[]): Attempt => attempts[attempts.length - 1]!;
const hashesOf = ({ attempts }: Flight): Hex[] => attempts.map(({ hash }) => hash).reverse();
