import type { SQLInputValue } from "node:sqlite";
import type { BookEvent } from "../../core/books/events.ts";
import { toAtomic } from "../../core/set/price.ts";
import { NANO_DECIMALS } from "./schema.ts";

/** How values stand in the tables: whatever has the usual form is packed, and everything else stands as it is. */

/** Kinds of lines, by their numbers. */
export const KINDS = ["sale", "refund", "reversal", "restoration"] as const satisfies readonly BookEvent["kind"][];

const ID = /^(sale|refund|reversal|restoration)_([0-9a-f]{20})$/;
const HEX = /^0x(?:[0-9a-f]{2})+$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** `sale_0123…` as the number of its kind and ten bytes. */
export function packId(id: string): SQLInputValue {
  const [, kind, hex] = ID.exec(id) ?? [];
  return hex === undefined ? id : Buffer.from(`0${KINDS.indexOf(kind as BookEvent["kind"])}${hex}`, "hex");
}

/** Addresses and transactions of EVM chains in lower case, as bytes; an empty text as NULL. */
export function packHex(text: string | null): SQLInputValue {
  if (text === null || text === "") return null;
  return HEX.test(text) ? Buffer.from(text.slice(2), "hex") : text;
}

/** A UUID in lower case, as bytes. */
export function packUuid(text: string | null): SQLInputValue {
  if (text === null) return null;
  return UUID.test(text) ? Buffer.from(text.replaceAll("-", ""), "hex") : text;
}

/** Decimal text, as a number where JavaScript reads each one exactly. */
export function packAmount(text: string): SQLInputValue {
  const number = Number(text);
  return Number.isSafeInteger(number) && String(number) === text ? number : text;
}

/** Prices that were packed before: a shop has few. */
const nanos = new Map<string, SQLInputValue>();
const MOST_NANOS = 1000;

/** More than any call costs: sums of it stay below 64 bits. */
const MOST_NANO = 10n ** 17n;

/** Dollars in thousand-millionths; finer digits are cut off, and NULL stands for what is no price. */
export function packUsd(usd: string): SQLInputValue {
  const known = nanos.get(usd);
  if (known !== undefined) return known;
  const nano = toNano(usd);
  if (nanos.size >= MOST_NANOS) nanos.clear();
  nanos.set(usd, nano);
  return nano;
}

function toNano(usd: string): SQLInputValue {
  try {
    const nano = toAtomic(usd, 18) / 10n ** BigInt(18 - NANO_DECIMALS);
    return nano > MOST_NANO ? null : packAmount(String(nano));
  } catch {
    return null;
  }
}

/** SQL that unpacks each of them. */
export const unpackId = (column: string): string => `CASE WHEN typeof(${column}) <> 'blob' THEN ${column}
  ELSE CASE substr(hex(${column}), 2, 1) ${KINDS.map((kind, at) => `WHEN '${at}' THEN '${kind}_'`).join(" ")} END
    || lower(substr(hex(${column}), 3)) END`;

export const unpackHex = (column: string): string =>
  `iif(typeof(${column}) = 'blob', '0x' || lower(hex(${column})), ${column})`;

export const unpackUuid = (column: string): string => {
  const parts = [1, 9, 13, 17, 21].map((from, at) => `substr(hex(${column}), ${from}, ${[8, 4, 4, 4, 12][at]})`);
  return `iif(typeof(${column}) = 'blob', lower(${parts.join(" || '-' || ")}), ${column})`;
};

/** An amount, of a number or a text, as the two numbers of `book_sums`. One that is too long for any token counts nothing. */
export const ATOMIC = `CASE WHEN typeof(amount) = 'integer' THEN amount / 1000000000
      WHEN length(amount) > 27 THEN 0
      ELSE CAST(substr(amount, 1, max(length(amount) - 9, 0)) AS INTEGER) END AS giga,
    CASE WHEN typeof(amount) = 'integer' THEN amount % 1000000000
      WHEN length(amount) > 27 THEN 0
      ELSE CAST(substr(amount, max(length(amount) - 8, 1)) AS INTEGER) END AS rest`;
/** Dollars that are unknown count nothing. */
export const NANO = "CAST(coalesce(nano, 0) AS INTEGER) AS nano";
