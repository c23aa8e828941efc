import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { base58 } from "@scure/base";
import type { Hex } from "../api/capabilities.ts";

/** The order of secp256k1: a private key lies between 0 and it. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** An EVM private key: 0x and 64 hex digits. @throws RangeError that says what is wrong without repeating the text. */
export function parseEvmKey(text: string): Hex {
  const key = text.trim();
  if (!/^0x[0-9a-fA-F]{64}$/.test(key)) {
    const wrong = key.startsWith("0x") ? `this is 0x and ${count(key.slice(2))}` : `this does not begin with 0x`;
    throw new RangeError(`An EVM private key is 0x and 64 hex digits; ${wrong}`);
  }
  const number = BigInt(key);
  if (number === 0n || number >= ORDER) throw new RangeError("This EVM private key is outside the range of secp256k1");
  return key as Hex;
}

/** An Ed25519 key pair whose private half stays in node:crypto. */
export interface SolanaKey {
  readonly privateKey: KeyObject;
  /** Base58. */
  readonly address: string;
}

/**
 * A Solana key pair: 64 bytes, private half first, in base58 or as the JSON array that `solana-keygen` writes.
 * @throws RangeError that says what is wrong without repeating the text.
 */
export function parseSolanaKey(text: string): SolanaKey {
  const bytes = toBytes(text.trim());
  if (bytes.length !== 64) throw new RangeError(`A Solana key pair is 64 bytes; this is ${bytes.length}`);
  const privateKey = createPrivateKey({
    key: Buffer.concat([PKCS8_ED25519, bytes.subarray(0, 32)]),
    format: "der",
    type: "pkcs8",
  });
  const publicBytes = createPublicKey(privateKey).export({ format: "der", type: "spki" }).subarray(-32);
  if (!publicBytes.equals(bytes.subarray(32)))
    throw new RangeError("The two halves of this Solana key pair do not belong together");
  return { privateKey, address: base58.encode(publicBytes) };
}

/** The bytes before the 32 private bytes in the PKCS #8 form of an Ed25519 key (RFC 8410). */
export const PKCS8_ED25519 = Buffer.from("302e020100300506032b657004220420", "hex");

function toBytes(text: string): Uint8Array {
  if (text.startsWith("[")) return fromJson(text);
  try {
    return base58.decode(text);
  } catch {
    throw new RangeError(`A Solana key pair is base58 text or a JSON array of 64 bytes; this is neither`);
  }
}

function fromJson(text: string): Uint8Array {
  let values: unknown;
  try {
    values = JSON.parse(text);
  } catch {
    throw new RangeError("This Solana key pair begins as a JSON array, but is no valid JSON");
  }
  const isByte = (value: unknown): boolean =>
    Number.isInteger(value) && (value as number) >= 0 && (value as number) < 256;
  if (!Array.isArray(values) || !values.every(isByte))
    throw new RangeError("A Solana key pair in JSON is an array of bytes, from 0 to 255");
  return Uint8Array.from(values);
}

const count = (digits: string): string =>
  /^[0-9a-fA-F]*$/.test(digits) ? `${digits.length} digits` : "something that is not hex";
