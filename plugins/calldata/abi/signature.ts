import { keccak_256 } from "@noble/hashes/sha3";
import type { AbiParameter } from "viem";

/** A function as directories write it: `transfer(address,uint256)`. They have no parameter names. */
export interface FunctionSignature {
  readonly text: string;
  readonly name: string;
  /** As in the signature: `(address,uint256)[]`. */
  readonly types: readonly string[];
  /**
   * The parameters for viem, with `bytes` in place of `string`, because text that is not UTF-8 must survive, and
   * `bytes24` in place of `function`.
   */
  readonly parameters: readonly AbiParameter[];
}

const LONGEST = 1000;
/** How deeply tuples and arrays may nest: viem's time grows with the square. */
const MOST_NESTED = 10;
const SIGNATURE = /^([A-Za-z_$][\w$]*)\(([^\s]*)\)$/;
const ARRAY = /^(.+)\[([1-9]\d{0,8})?\]$/;
const PLAIN = /^(?:address|bool|bytes|bytes(?:[1-9]|[12]\d|3[0-2]))$/;
const INTEGER = /^u?int([1-9]\d{0,2})$/;

/**
 * Reads a signature in canonical spelling. Undefined for any other text, and for types without bytes (an empty tuple,
 * an array of length 0), of which a few bytes could claim to hold billions.
 */
export function readSignature(text: string): FunctionSignature | undefined {
  const [, name, list] = (text.length <= LONGEST && SIGNATURE.exec(text)) || [];
  if (name === undefined || list === undefined) return undefined;
  const types = list === "" ? [] : splitTypes(list);
  const parameters = types?.map((type) => toParameter(type, 1));
  if (!types || !parameters?.every((parameter) => parameter !== undefined)) return undefined;
  return { text, name, types, parameters };
}

/** The first four bytes of Keccak-256 over the signature: `0xa9059cbb`. */
export const toSelector = (signature: string | Uint8Array): string =>
  `0x${Buffer.from(keccak_256(signature)).subarray(0, 4).toString("hex")}`;

/** The type of an array's items; undefined for any other type. */
export const itemOf = (type: string): string | undefined => ARRAY.exec(type)?.[1];

/** The types of a tuple's members; undefined for any other type. */
export const membersOf = (type: string): readonly string[] | undefined =>
  type.startsWith("(") && type.endsWith(")") ? splitTypes(type.slice(1, -1)) : undefined;

/** Splits at the commas outside parentheses; undefined when parentheses do not match. */
function splitTypes(list: string): string[] | undefined {
  const types = [""];
  let depth = 0;
  for (const character of list) {
    if (character === "(") depth++;
    if (character === ")" && --depth < 0) return undefined;
    if (character === "," && depth === 0) types.push("");
    else types[types.length - 1] += character;
  }
  return depth === 0 ? types : undefined;
}

function toParameter(type: string, depth: number): AbiParameter | undefined {
  if (depth > MOST_NESTED) return undefined;
  const item = itemOf(type);
  if (item !== undefined) {
    const parameter = toParameter(item, depth + 1);
    return parameter && { ...parameter, type: `${parameter.type}${type.slice(item.length)}` };
  }
  const components = membersOf(type)?.map((member) => toParameter(member, depth + 1));
  if (components) return components.every((each) => each !== undefined) ? { type: "tuple", components } : undefined;
  if (type === "string") return { type: "bytes" };
  if (type === "function") return { type: "bytes24" };
  const bits = Number(INTEGER.exec(type)?.[1]);
  return PLAIN.test(type) || (bits <= 256 && bits % 8 === 0) ? { type } : undefined;
}
