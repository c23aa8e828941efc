import type { Clock } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { toAccount } from "../account.ts";
import type { SiteManifest } from "../set/manifest.ts";
import { toAtomic } from "../set/price.ts";
import type { Store } from "../store.ts";

/** Limits what one wallet may buy (`limits.per_payer`); counted in the store for all processes. */
export interface PayerLimits {
  /**
   * Takes a call and its price from a wallet's budget; returns a function that returns the price when nothing was
   * charged.
   * @param price US dollars, decimal text @throws Problem `rate-limited`, `unavailable`.
   */
  take(wallet: string, price: string): Promise<() => Promise<void>>;
  /** Takes a price from the current day, whatever is left of it: it was charged. */
  add(wallet: string, price: string): Promise<void>;
  /** Returns a price that was taken at this time (Unix milliseconds). */
  giveBack(wallet: string, price: string, at: number): Promise<void>;
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
  /** The counter of the period of a time, the current one by default. */
  const counterOf = (
    name: string,
    wallet: string,
    periodMs: number,
    at = clock.now(),
  ): ((by: number) => Promise<number>) => {
    const key = `per-payer:${name}:${toAccount(wallet)}:${Math.floor(at / periodMs)}`;
    return (by) => store.incr(key, by, periodMs + MARGIN_MS, "lazy");
  };
  const secondsLeft = (periodMs: number): number => Math.ceil((periodMs - (clock.now() % periodMs)) / 1000);

  return {
    async take(wallet, price) {
      if (mostCalls !== undefined && (await counterOf("calls", wallet, MINUTE_MS)(1)) > mostCalls)
        throw tooMuch(`A wallet may begin ${mostCalls} calls a minute here`, secondsLeft(MINUTE_MS));
      if (mostMicros === undefined) return async () => {};
      const spend = counterOf("usd", wallet, DAY_MS);
      const micros = toMicros(price);
      const giveBack = async (): Promise<void> => void (await spend(-micros));
      if ((await spend(micros)) <= mostMicros) return giveBack;
      await giveBack();
      throw tooMuch(`A wallet may spend ${mostUsd} dollars a day (UTC) here`, secondsLeft(DAY_MS));
    },
    async add(wallet, price) {
      if (mostMicros !== undefined) await counterOf("usd", wallet, DAY_MS)(toMicros(price));
    },
    async giveBack(wallet, price, at) {
      if (mostMicros !== undefined) await counterOf("usd", wallet, DAY_MS, at)(-toMicros(price));
    },
  };
}

/** A price in millionths of a dollar, rounded up. */
const toMicros = (price: string): number => {
  const unit = 10n ** BigInt(18 - DECIMALS);
  return Number((toAtomic(price, 18) + unit - 1n) / unit);
};

const tooMuch = (detail: string, retryAfter: number): Problem =>
  new Problem("rate-limited", `${detail}; nothing was charged`, { retryAfter });
