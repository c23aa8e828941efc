import type { Hex } from "../../api/capabilities.ts";
import { isObject } from "../json.ts";

/**
 * The longest signature in characters: a contract's may consist of the signatures of many owners. Much longer ones are too
 * large a call for a node, whose refusal looks like an outage.
 */
export const LONGEST_SIGNATURE = 8192;

/** A signed authorization (EIP-3009, `TransferWithAuthorization`) with its signature: scheme `exact` on EVM. */
export interface Eip3009 {
  readonly signature: Hex;
  readonly authorization: {
    readonly from: Hex;
    readonly to: Hex;
    /** Atomic units; this and the times are decimal text, below 2^256. */
    readonly value: string;
    /** Unix seconds. */
    readonly validAfter: string;
    /** Unix seconds; the token accepts the authorization only before this time. */
    readonly validBefore: string;
    /** 32 bytes. */
    readonly nonce: Hex;
  };
}

/** Reads the authorization of a payload and drops other members; undefined when there is none, or it is malformed. */
export function readEip3009(payload: Readonly<Record<string, unknown>>): Eip3009 | undefined {
  const { signature, authorization } = payload;
  if (!isEvmSignature(signature) || !isObject(authorization)) return undefined;
  const { from, to, nonce } = authorization;
  if (!isHex(from, 20) || !isHex(to, 20) || !isHex(nonce, 32)) return undefined;
  const value = toUint256(authorization.value);
  const validAfter = toUint256(authorization.validAfter);
  const validBefore = toUint256(authorization.validBefore);
  if (value === undefined || validAfter === undefined || validBefore === undefined) return undefined;
  return { signature, authorization: { from: toPlain(from), to: toPlain(to), value, validAfter, validBefore, nonce } };
}

/** Identifies what the token takes only once: payer and nonce. */
export const authorizationId = ({ from, nonce }: Pick<Eip3009["authorization"], "from" | "nonce">): string =>
  `${from}:${nonce}`.toLowerCase();

/** The signer of a stored payload, which was read before; undefined when it names none. */
export function signerOf({ authorization }: Readonly<Record<string, unknown>>): string | undefined {
  return isObject(authorization) && typeof authorization.from === "string" ? authorization.from : undefined;
}

/** Capitals alone are no checksum (EIP-55), and libraries refuse the address for them. */
const toPlain = (address: Hex): Hex => (/[a-f]/.test(address) ? address : (address.toLowerCase() as Hex));

/** Whether a value is a signature in hex, of a key or of a contract. */
export const isEvmSignature = (value: unknown): value is Hex => isHex(value) && value.length <= LONGEST_SIGNATURE;

/** Whether a value is bytes in hex with 0x, at least one. @param bytes how many they must be */
export const isHex = (value: unknown, bytes?: number): value is Hex =>
  typeof value === "string" &&
  /^0x(?:[0-9a-fA-F]{2})+$/.test(value) &&
  (bytes === undefined || value.length === 2 + 2 * bytes);

/** Decimal text without leading zeros; some clients send a safe integer instead. */
export function toUint256(value: unknown): string | undefined {
  const text = typeof value === "number" && Number.isSafeInteger(value) ? String(value) : value;
  if (typeof text !== "string" || !/^\d{1,78}$/.test(text)) return undefined;
  const number = BigInt(text);
  return number < 2n ** 256n ? String(number) : undefined;
}
