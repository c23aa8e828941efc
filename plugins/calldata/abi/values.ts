import { isUtf8 } from "node:buffer";
import { itemOf, membersOf } from "./signature.ts";

/** A decoded value as JSON: schemas/DecodedParam.json says how each type looks. */
export type JsonValue = string | number | boolean | readonly JsonValue[];

/** @param value as viem decodes it with the signature's parameters. */
export function toJson(type: string, value: unknown): JsonValue {
  if (Array.isArray(value)) {
    const item = itemOf(type);
    const members = membersOf(type);
    return value.map((each, index) => toJson(item ?? members?.[index] ?? "", each));
  }
  if (typeof value === "bigint" || typeof value === "number") return toInteger(BigInt(value));
  if (typeof value === "boolean") return value;
  return type === "string" ? toText(String(value)) : String(value);
}

/** A JSON number when it is a safe integer, otherwise decimal text. */
const toInteger = (value: bigint): number | string =>
  Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();

/** The text, or hex digits when the bytes are not UTF-8. */
function toText(hex: string): string {
  const bytes = Buffer.from(hex.slice(2), "hex");
  return isUtf8(bytes) ? bytes.toString("utf8") : hex;
}
