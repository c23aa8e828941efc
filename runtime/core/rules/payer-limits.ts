import { randomUUID } from "node:crypto";
import type { Clock } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { toAccount } from "../account.ts";
import type { SiteManifest } from "../set/manifest.ts";
import { toAtomic } from "../set/price.ts";
import type { Store } from "../store.ts";

/** Limits what one wallet may buy (`limits.per_payer`); counted in the store for all processes. */
export interface PayerLimits {
  /**
   * Takes a call and its price from a wallet's budget; the price once, however often its payment is tried. Returns a function
   * that returns the price when nothing was charged.
   * @throws Problem `rate-limited`, `unavailable`.
   */
  take(outlay: Outlay): Promise<() => Promise<void>>;
  /** Takes a price from the current day, whatever is left of it: it was charged. */
  add(outlay: Outlay): Promise<void>;
  /** Returns a price to the day from which it was taken, once. */
  giveBack(outlay: Outlay): Promise<void>;
}

/** What a payment takes from a wallet's budget. */
export interface Outlay {
  /** The payment's key. */
  readonly key: string;
  readonly wallet: string;
  /** US dollars, decimal text. */
  readonly price: string;
}

export interface PayerLimitsDeps {
  readonly terms: NonNullable<SiteManifest["limits"]["per_payer"]>;
  readonly store: Store;
  readonly clock: Clock;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Counters are kept longer than their period, since the clocks of processes differ. */
const MARGIN_MS = 5 * MINUTE_MS;
/** Dollars are counted in whole millionths. */
const DECIMALS = 6;

export function createPayerLimits({ terms, store, clock }: PayerLimitsDeps): PayerLimits {
  const { calls_per_minute: mostCalls, usd_per_day: mostUsd } = terms;
  const mostMicros = mostUsd === undefined ? undefined : Number(toAtomic(mostUsd, 18) / 10n ** 12n);
  /** Adds to the counter of a period: the number of the minute, or of the day. */
  const count = (name: string, wallet: string, periodMs: number, period: number, by: number): Promise<number> =>
    store.incr(`per-payer:${name}:${toAccount(wallet)}:${period}`, by, periodMs + MARGIN_MS, "lazy");
  const periodOf = (periodMs: number): number => Math.floor(clock.now() / periodMs);
  const secondsLeft = (periodMs: number): number => Math.ceil((periodMs - (clock.now() % periodMs)) / 1000);
  const spend = ({ wallet, price }: Outlay, day: number, sign: 1 | -1 = 1): Promise<number> =>
    count("usd", wallet, DAY_MS, day, sign * toMicros(price));

  async function giveBack(outlay: Outlay, call?: string): Promise<void> {
    const mark = markOf(outlay);
    const taken = mostMicros === undefined ? undefined : await store.get<Taken>(mark);
    if (!taken || (call ?? taken.call) !== taken.call) return;
    await store.delete(mark, "lazy");
    await spend(outlay, taken.day, -1);
  }

  return {
    async take(outlay) {
      const { wallet } = outlay;
      if (mostCalls !== undefined) {
        const calls = await count("calls", wallet, MINUTE_MS, periodOf(MINUTE_MS), 1);
        if (calls > mostCalls)
          throw tooMuch(`A wallet may begin ${mostCalls} calls a minute here`, secondsLeft(MINUTE_MS));
      }
      if (mostMicros === undefined) return async () => {};
      const [mark, call] = [markOf(outlay), randomUUID()];
      const taken = await store.get<Taken>(mark);
      const day = taken?.day ?? periodOf(DAY_MS);
      if (!taken && (await spend(outlay, day)) > mostMicros) {
        await spend(outlay, day, -1);
        throw tooMuch(`A wallet may spend ${mostUsd} dollars a day (UTC) here`, secondsLeft(DAY_MS));
      }
      await store.set(mark, { day, call } satisfies Taken, DAY_MS + MARGIN_MS, "lazy");
      return () => giveBack(outlay, call);
    },
    async add(outlay) {
      if (mostMicros !== undefined) await spend(outlay, periodOf(DAY_MS));
    },
    giveBack: (outlay) => giveBack(outlay),
  };
}

/** That the price of a payment was taken. */
interface Taken {
  /** From which day's budget. */
  readonly day: number;
  /** By which call: the newest one that works on the payment. Only that one returns it by itself. */
  readonly call: string;
}

const markOf = ({ key }: Outlay): string => `taken:${key}`;

/** A price in millionths of a dollar, rounded up. */
const toMicros = (price: string): number => {
  const unit = 10n ** BigInt(18 - DECIMALS);
  return Number((toAtomic(price, 18) + unit - 1n) / unit);
};

const tooMuch = (detail: string, retryAfter: number): Problem =>
  new Problem("rate-limited", `${detail}; nothing was charged`, { retryAfter });
