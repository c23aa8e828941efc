import { type Html, html } from "../html.ts";

/**
 * An amount in a table: `1234.567891`, alone or with its token. Kept as decimal text, never as a floating-point number.
 */
export interface Amount {
  readonly whole: string;
  /** The digits after the point; empty when there is none. */
  readonly fraction: string;
  readonly symbol: string | undefined;
}

/** Longer fractions are rounded. */
const MOST_DECIMALS = 6;
/** How many significant digits of an amount below 1 are kept. */
const DIGITS = 3;
const AMOUNT = /^(\d{1,60})(?:\.(\d{1,36}))?(?: ([A-Z][A-Za-z0-9]{1,9}))?$/;

/** The amounts in a text such as `500.25 USDC, 0.1 ETH`; undefined when the text holds anything else. */
export function readAmounts(text: string): readonly Amount[] | undefined {
  const amounts = text.split(", ").map((part): Amount | undefined => {
    const [, whole, fraction = "", symbol] = AMOUNT.exec(part) ?? [];
    return whole === undefined ? undefined : { whole, fraction, symbol };
  });
  return amounts.every((amount) => amount !== undefined) ? amounts : undefined;
}

/** How many decimals an amount needs: two, or for a small amount as many as its third significant digit needs. */
export function toDecimals({ whole, fraction }: Amount): number {
  const zeros = /^0*/.exec(fraction)?.[0].length ?? 0;
  const wanted = /[1-9]/.test(whole) ? 2 : zeros + DIGITS;
  return Math.min(fraction.replace(/0+$/, "").length, wanted, MOST_DECIMALS);
}

/**
 * The amount for people: grouped, and rounded half up to this number of decimals. An amount above zero is never shown
 * as zero. When digits were lost, the exact value is shown on hover.
 */
export function toAmount(amount: Amount, decimals: number): Html {
  const { whole, fraction, symbol } = amount;
  const unit = symbol === undefined ? "" : ` ${symbol}`;
  const shown = `${round(amount, decimals)}${unit}`;
  if (!/[1-9]/.test(fraction.slice(decimals))) return html`${shown}`;
  const exact = `${whole}.${fraction}`;
  return html`<data value="${exact}" title="${exact}${unit}">${shown}</data>`;
}

function round({ whole, fraction }: Amount, decimals: number): string {
  const kept = BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, "0"));
  const rounded = kept + (Number(fraction[decimals] ?? "0") >= 5 ? 1n : 0n);
  if (rounded === 0n && /[1-9]/.test(whole + fraction)) return `<${toText(1n, decimals)}`;
  return toText(rounded, decimals);
}

function toText(units: bigint, decimals: number): string {
  const digits = String(units).padStart(decimals + 1, "0");
  const at = digits.length - decimals;
  const grouped = digits.slice(0, at).replace(/\B(?=(?:\d{3})+$)/g, ",");
  return decimals === 0 ? grouped : `${grouped}.${digits.slice(at)}`;
}
