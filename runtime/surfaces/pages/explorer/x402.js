/**
 * One entry of a challenge's `accepts`.
 * @typedef {{ scheme: string, network: string, asset: string, amount: string, payTo: string, maxTimeoutSeconds: number, extra: Readonly<Record<string, unknown>> }} Offer
 */

/**
 * The challenge of a 402 (x402 version 2).
 * @typedef {{ x402Version: 2, error: string, resource: { url: string }, accepts: readonly Offer[], extensions?: object }} Challenge
 */

/**
 * The facts of the site.
 * @typedef {{ title: string, network: string, asset: string, symbol: string, decimals: number, explorer: string }} Rail
 * @typedef {{ sandbox: boolean, test: boolean, rails: readonly Rail[] }} Facts
 */

/**
 * The result of a settlement. `asset` is that of the payment.
 * @typedef {{ success: boolean, transaction: string, network: string, payer?: string, amount?: string, errorReason?: string, asset?: string | undefined }} Receipt
 */

/** @type {Facts} */
export const FACTS = JSON.parse(document.getElementById("_site")?.textContent ?? '{"rails":[]}');

/** How far the seller's clock is ahead of this machine's, which may be wrong, in milliseconds. */
let aheadMs = 0;
/** An answer may take this long; a payment bears a clock that is off by as much. */
const USUAL_MS = 60_000;

/** Learns the seller's time from an answer. @param {string | null} date the header `Date` */
export function learnTime(date) {
  const ahead = Date.parse(date ?? "") - Date.now();
  if (!Number.isNaN(ahead)) aheadMs = Math.abs(ahead) > USUAL_MS ? ahead : 0;
}

/** Now, by the seller's clock, in Unix seconds. */
export const readTime = () => Math.floor((Date.now() + aheadMs) / 1000);

/**
 * The rail of a token. Without an asset: the rail of the network, when it has a single one.
 * @param {string} network CAIP-2
 * @param {string} [asset]
 * @returns {Rail | undefined}
 */
export function railOf(network, asset) {
  const there = FACTS.rails.filter((rail) => rail.network === network);
  if (asset === undefined) return there.length === 1 ? there[0] : undefined;
  return there.find((rail) => rail.asset === asset);
}

/**
 * An amount for people: `0.001 USDC`.
 * @param {string} amount in atomic units
 * @param {Rail} rail
 */
export const toAmount = (amount, { decimals, symbol }) => `${toDecimal(amount, decimals)} ${symbol}`;

/**
 * An offer's price for people: `0.001 USDC on Base`.
 * @param {Offer} offer
 */
export function toPrice({ network, asset, amount }) {
  const rail = railOf(network, asset);
  return rail ? `${toDecimal(amount, rail.decimals)} ${rail.title}` : `${amount} units of ${asset} on ${network}`;
}

/**
 * @param {string} atomic
 * @param {number} decimals
 */
function toDecimal(atomic, decimals) {
  const digits = atomic.padStart(decimals + 1, "0");
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
  return digits.slice(0, digits.length - decimals) + (fraction === "" ? "" : `.${fraction}`);
}

/**
 * Base64 of the JSON, as x402 headers are written.
 * @param {object} value
 */
export function encodeHeader(value) {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

/**
 * @param {string} text
 * @returns {unknown}
 */
export function decodeHeader(text) {
  const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes));
}

/**
 * The value of the PAYMENT-SIGNATURE header for one offer.
 * @param {Challenge} challenge
 * @param {Offer} accepted
 * @param {object} payload
 */
export function toPayment({ resource, extensions }, accepted, payload) {
  return encodeHeader({ x402Version: 2, resource, accepted, payload, ...(extensions && { extensions }) });
}
