import { InvalidArgumentError } from "commander";
import { isPrice } from "../../core/set/price.ts";
import { isIdentifier } from "../../core/x402/read-payment.ts";
import { BASE_URL, ORIGIN, WEB_URL } from "../config/values.ts";

/** A sandbox's origin, without a trailing slash. @throws InvalidArgumentError that says what is expected. */
export function toOrigin(text: string): string {
  return ORIGIN.parse(text) ?? invalid(ORIGIN.right);
}

/**
 * The base URL of a seller or a peer, which may have a path, without a trailing slash. @throws InvalidArgumentError that
 * says what is expected.
 */
export function toBaseUrl(text: string): string {
  return BASE_URL.parse(text) ?? invalid(BASE_URL.right);
}

/**
 * An http or https URL, with its trailing slash, and without a password, which `fetch` refuses in a message that shows it.
 * @throws InvalidArgumentError that says what is expected.
 */
export function toWebUrl(text: string): string {
  const url = WEB_URL.parse(text) === undefined ? undefined : new URL(text);
  return url && `${url.username}${url.password}` === ""
    ? url.href
    : invalid(`${WEB_URL.right}, with no user name or password`);
}

/** Decimal text above zero. @throws InvalidArgumentError that says what is expected. */
export function toPrice(text: string): string {
  return isPrice(text) ? text : invalid("a plain decimal number above zero, like 0.05");
}

/** Adds an amount in a currency, like eur=5, to others. @throws InvalidArgumentError that says what is expected. */
export function toAmounts(text: string, others: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const [, currency = "", amount = ""] = /^([a-z]{3})=(.*)$/.exec(text) ?? [];
  if (["usd", "jpy"].includes(currency)) invalid(`another currency, since there is --max-${currency}`);
  return isPrice(amount) ? { ...others, [currency]: amount } : invalid("a currency and an amount, like eur=5");
}

/** A purchase's name (x402 extension `payment-identifier`). @throws InvalidArgumentError that says what is expected. */
export function toIdentifier(text: string): string {
  return isIdentifier(text) ? text : invalid("16 to 128 letters, digits, _ or -");
}

/** Whole seconds. @throws InvalidArgumentError that says what is expected. */
export function toSeconds(text: string): number {
  return /^\d{1,6}$/.test(text) ? Number(text) : invalid("a whole number of seconds");
}

function invalid(right: string): never {
  throw new InvalidArgumentError(`It must be ${right}.`);
}
