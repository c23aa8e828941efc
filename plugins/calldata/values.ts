import { isUtf8 } from "node:buffer";
import { keccak_256 } from "@noble/hashes/sha3";
import type { Value } from "./decode.ts";
import type { AbiType } from "./types.ts";

/** A decoded value as JSON: schemas/DecodedParam.json says how each type looks. */
export type JsonValue = string | number | boolean | readonly JsonValue[];

/** @param value as it was decoded by this very type. */
export function toJson(type: AbiType, value: Value): JsonValue {
  if (!Buffer.isBuffer(value)) return value.map((item, index) => toJson(toItem(type, index), item));
  if (type.kind === "uint" || type.kind === "int") return toInteger(value, type.kind === "int");
  if (type.kind === "bool") return value[0] === 1;
  if (type.kind === "address") return toAddress(value.toString("hex"));
  if (type.kind === "string" && isUtf8(value)) return value.toString("utf8");
  return `0x${value.toString("hex")}`;
}

function toItem(type: AbiType, index: number): AbiType {
  if (type.kind === "list") return type.item;
  return (type.kind === "tuple" ? type.items[index] : undefined) ?? type;
}

/** A number where JSON readers keep all of its digits, and decimal text beyond. */
function toInteger(bytes: Buffer, isSigned: boolean): number | string {
  const unsigned = BigInt(`0x${bytes.toString("hex")}`);
  const integer = isSigned ? BigInt.asIntN(bytes.length * 8, unsigned) : unsigned;
  const number = Number(integer);
  return Number.isSafeInteger(number) ? number : integer.toString();
}

/** EIP-55: a letter is a capital where the hash of the lower-case digits has 8 or more. */
function toAddress(digits: string): string {
  const hash = Buffer.from(keccak_256(digits)).toString("hex");
  return `0x${digits.replace(/[a-f]/g, (digit, at: number) => ((hash[at] as string) >= "8" ? digit.toUpperCase() : digit))}`;
}
