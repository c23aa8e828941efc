import type { RailManifest, SiteManifest } from "./manifest.ts";

/** Decimal text: no sign, no exponent, no leading zeros, at most 18 decimals. */
const DECIMAL = /^(0|[1-9]\d{0,17})(?:\.(\d{1,18}))?$/;

/** The smallest amount that Coinbase's facilitator settles, in dollars. */
export const LEAST_PRICE = "0.001";

/** Whether the text is a plain decimal number greater than zero. */
export function isPrice(text: string): boolean {
  return DECIMAL.test(text) && /[1-9]/.test(text);
}

/**
 * Decimal text in atomic units, e.g. `toAtomic("0.02", 6)` is `20000n`. Never rounds.
 * @throws RangeError when the text is not a plain decimal, or has more decimals than the asset.
 */
export function toAtomic(decimal: string, decimals: number): bigint {
  const [, whole, fraction = ""] = DECIMAL.exec(decimal) ?? [];
  if (whole === undefined) throw new RangeError(`"${decimal}" is not a plain decimal number`);
  const kept = fraction.replace(/0+$/, "");
  if (kept.length > decimals) throw new RangeError(`"${decimal}" has more than the asset's ${decimals} decimals`);
  return BigInt(whole + kept.padEnd(decimals, "0"));
}

/** Whether an amount, decimal text, has at most this many decimals. */
export const isExact = (amount: string, decimals: number): boolean =>
  toAtomic(amount, 18) % 10n ** BigInt(18 - decimals) === 0n;

/** Atomic units as decimal text without superfluous zeros, e.g. `toDecimal(20000n, 6)` is `"0.02"`. */
export function toDecimal(atomic: bigint, decimals: number): string {
  const digits = atomic.toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
  return fraction === "" ? whole : `${whole}.${fraction}`;
}

/** The parts of a site that set prices in other currencies. */
export type Tariff = Pick<SiteManifest, "currencies" | "yen_tiers">;

/** The fixed amounts of a currency by price in dollars; undefined when the site has none. */
export const tiersOf = (
  { currencies = {}, yen_tiers }: Tariff,
  currency: string,
): Readonly<Record<string, string>> | undefined =>
  currencies[currency]?.tiers ?? (currency === "jpy" ? yen_tiers : undefined);

/**
 * A price in dollars as an amount on a rail, in atomic units. Other currencies use fixed tiers, without conversion;
 * undefined when there is no tier for the price.
 */
export function amountOn(
  { currency, decimals }: Pick<RailManifest, "currency" | "decimals">,
  price: string,
  tariff: Tariff,
): bigint | undefined {
  if (currency === "usd") return toAtomic(price, decimals);
  const usd = toAtomic(price, 18);
  const tiers = tiersOf(tariff, currency) ?? {};
  const tier = Object.keys(tiers).find((key) => toAtomic(key, 18) === usd);
  return tier === undefined ? undefined : toAtomic(tiers[tier] as string, decimals);
}

/**
 * The price in dollars of an amount on a rail: the inverse of `amountOn`. Prefers `known` when several prices have that
 * amount; undefined when no tier has it.
 */
export function priceOf(
  rail: Pick<RailManifest, "currency" | "decimals">,
  amount: bigint,
  { known, ...tariff }: Tariff & { readonly known: string },
): string | undefined {
  if (rail.currency === "usd") return toDecimal(amount, rail.decimals);
  const prices = [known, ...Object.keys(tiersOf(tariff, rail.currency) ?? {})];
  return prices.find((price) => amountOn(rail, price, tariff) === amount);
}
