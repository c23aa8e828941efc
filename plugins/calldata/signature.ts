import { keccak_256 } from "@noble/hashes/sha3";
import { type AbiType, readTypes } from "./types.ts";

/** A function as directories write it: `transfer(address,uint256)`. They know no names of parameters. */
export interface Signature {
  readonly text: string;
  readonly name: string;
  readonly types: readonly AbiType[];
}

const LONGEST = 1000;
const SIGNATURE = /^([A-Za-z_$][\w$]*)(\([^\s]*\))$/;

/** Undefined for a text that is no function, or whose types this plugin cannot read. */
export function readSignature(text: string): Signature | undefined {
  const [, name, list] = (text.length <= LONGEST && SIGNATURE.exec(text)) || [];
  const types = list === undefined ? undefined : readTypes(list);
  return name === undefined || types === undefined ? undefined : { text, name, types };
}

/** The first four bytes of Keccak-256 over the signature: `0xa9059cbb`. */
export const toSelector = (signature: string): string =>
  `0x${Buffer.from(keccak_256(signature)).subarray(0, 4).toString("hex")}`;
