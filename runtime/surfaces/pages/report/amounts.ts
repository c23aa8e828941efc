import { type Html, html } from "../html.ts";

/** An amount of a table: `1234.567891`, alone or with its token. Decimal text throughout: nothing floats. */
export interface Amount {
  readonly whole: string;
  /** The digits behind the point; empty without one. */
  readonly fraction: string;
  readonly symbol: string | undefined;
}

/** A longer fraction is rounded. */
const MOST_DECIMALS = 6;
/** So many digits are kept of what is less than 1. */
const DIGITS = 3;
const AMOUNT = /^(\d{1,60})(?:\.(\d{1,36}))?(?: ([A-Z][A-Za-z0-9]{1,9}))?$/;

/** The amounts of a text such as `500.25 USDC, 0.1 ETH`; undefined when it says anything else. */
export function readAmounts(text: string): readonly Amount[] | undefined {
  const amounts = text.split(", ").map((part): Amount | undefined => {
    const [, whole, fraction = "", symbol] = AMOUNT.exec(part) ?? [];
    return whole === undefined ? undefined : { whole, fraction, symbol };
  });
  return amounts.every((amount) => amount !== undefined) ? amounts : undefined;
}

/** How many decimals show an amount: two, or as many as a small one has before its third digit. */
export function toDecimals({ whole, fraction }: Amount): number {
  const zeros = /^0*/.exec(fraction)?.[0].length ?? 0;
  const wanted = /[1-9]/.test(whole) ? 2 : zeros + DIGITS;
  return Math.min(fraction.replace(/0+$/, "").length, wanted, MOST_DECIMALS);
}

/**
 * The amount as people read it: grouped, and rounded half up to so many decimals; what is more than nothing never becomes
 * nothing. Where digits were lost, the exact value is shown on hover.
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
