import type { SQLInputValue } from "node:sqlite";
import type { BookEvent } from "../../core/books/events.ts";
import { toAtomic } from "../../core/set/price.ts";
import { GIGA, NANO_DECIMALS } from "./schema.ts";

/** How values are stored in the tables: values of the usual form are packed, others are stored as they are. */

/** The kinds of lines; the index is the stored number. */
export const KINDS = ["sale", "refund", "reversal", "restoration"] as const satisfies readonly BookEvent["kind"][];

const ID = /^(sale|refund|reversal|restoration)_([0-9a-f]{20})$/;
const HEX = /^0x(?:[0-9a-f]{2})+$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Packs `sale_0123…` into the number of its kind and ten bytes. */
export function packId(id: string): SQLInputValue {
  const [, kind, hex] = ID.exec(id) ?? [];
  return hex === undefined ? id : Buffer.from(`0${KINDS.indexOf(kind as BookEvent["kind"])}${hex}`, "hex");
}

/** Packs lower-case EVM addresses and transactions into bytes; an empty text becomes NULL. */
export function packHex(text: string | null): SQLInputValue {
  if (text === null || text === "") return null;
  return HEX.test(text) ? Buffer.from(text.slice(2), "hex") : text;
}

/** Packs a lower-case UUID into bytes. */
export function packUuid(text: string | null): SQLInputValue {
  if (text === null) return null;
  return UUID.test(text) ? Buffer.from(text.replaceAll("-", ""), "hex") : text;
}

/** Decimal text as a number, if it is a safe integer. */
export function packAmount(text: string): SQLInputValue {
  const number = Number(text);
  return Number.isSafeInteger(number) && String(number) === text ? number : text;
}

/** A cache of packed prices: a shop has few. */
const nanos = new Map<string, SQLInputValue>();
const MOST_NANOS = 1000;

/** More than any call costs: sums of such amounts fit into 64 bits. */
const MOST_NANO = 10n ** 17n;

/** Dollars as billionths; finer digits are cut off, and a text that is no price becomes NULL. */
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

/** SQL that unpacks an id. */
export const unpackId = (column: string): string => `CASE WHEN typeof(${column}) <> 'blob' THEN ${column}
  ELSE CASE substr(hex(${column}), 2, 1) ${KINDS.map((kind, at) => `WHEN '${at}' THEN '${kind}_'`).join(" ")} END
    || lower(substr(hex(${column}), 3)) END`;

export const unpackHex = (column: string): string =>
  `iif(typeof(${column}) = 'blob', '0x' || lower(hex(${column})), ${column})`;

export const unpackUuid = (column: string): string => {
  const parts = [1, 9, 13, 17, 21].map((from, at) => `substr(hex(${column}), ${from}, ${[8, 4, 4, 4, 12][at]})`);
  return `iif(typeof(${column}) = 'blob', lower(${parts.join(" || '-' || ")}), ${column})`;
};

/** SQL of an amount, number or text, as `giga` and `rest` of `book_sums`. Amounts of more than 27 digits count as 0. */
export const ATOMIC = `CASE WHEN typeof(amount) = 'integer' THEN amount / 1000000000
      WHEN length(amount) > 27 THEN 0
      ELSE CAST(substr(amount, 1, max(length(amount) - 9, 0)) AS INTEGER) END AS giga,
    CASE WHEN typeof(amount) = 'integer' THEN amount % 1000000000
      WHEN length(amount) > 27 THEN 0
      ELSE CAST(substr(amount, max(length(amount) - 8, 1)) AS INTEGER) END AS rest`;
/** SQL that sums `giga` and `rest`; `giga` in two parts, since the sums of long spans exceed 64 bits. */
export const SUMMED = `sum(giga / 1000000000) AS tera, sum(giga % 1000000000) AS giga, sum(rest) AS rest`;
/** The same for rows that are sums already. */
export const SUMMED_AGAIN = "sum(tera) AS tera, sum(giga) AS giga, sum(rest) AS rest";
/** The amount of a summed row. */
export const toSummed = ({ tera = 0n, giga = 0n, rest = 0n }: Readonly<Record<string, bigint | undefined>>): bigint =>
  (tera * GIGA + giga) * GIGA + rest;

/** SQL of the dollars; unknown dollars count as 0. */
export const NANO = "CAST(coalesce(nano, 0) AS INTEGER) AS nano";
