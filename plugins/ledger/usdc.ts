/** USDC has 6 decimals: one dollar is a million atomic units. */
const DECIMALS = 6;
const ONE = 10n ** BigInt(DECIMALS);
/** No more digits than `min_amount` may have: BigInt takes the square of their number. */
const DECIMAL = /^(\d{1,24})(?:\.(\d{1,6}))?$/;

/** Atomic units of a plain decimal number such as `0.01`; undefined for anything else, and for more than 6 decimals. */
export function toAtomicUsdc(text: string): bigint | undefined {
  const [, whole, fraction = ""] = DECIMAL.exec(text) ?? [];
  return whole === undefined ? undefined : BigInt(whole) * ONE + BigInt(fraction.padEnd(DECIMALS, "0"));
}

/** Decimal text without trailing zeros: `1500000n` is `1.5`. */
export function toUsdc(atomic: bigint): string {
  const fraction = String(atomic % ONE).padStart(DECIMALS, "0");
  return `${atomic / ONE}.${fraction}`.replace(/\.?0+$/, "");
}

/** The sum of atomic units. */
export const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, amount) => total + amount, 0n);

/** The mean in atomic units, halves rounded up. @param count above zero. */
export const toMean = (total: bigint, count: number): bigint => (2n * total + BigInt(count)) / (2n * BigInt(count));

/** `part` in percent of `whole`, with two decimals; 0 when `whole` is 0. */
export const toPercent = (part: bigint, whole: bigint): number =>
  whole === 0n ? 0 : Number((part * 10_000n) / whole) / 100;
