import type { Hex } from "../api/capabilities.ts";

/** What a payer signed (EIP-3009, `TransferWithAuthorization`), with its signature. */
export interface Authorization {
  readonly from: Hex;
  readonly to: Hex;
  readonly value: bigint;
  /** Unix seconds. */
  readonly validAfter: bigint;
  /** Unix seconds; the token takes it before this moment only. */
  readonly validBefore: bigint;
  readonly nonce: Hex;
  readonly signature: Hex;
}

/** The authorization of an x402 payload (scheme `exact` on EVM), or undefined when it is none. */
export function readAuthorization(payload: Readonly<Record<string, unknown>>): Authorization | undefined {
  const { signature, authorization } = payload;
  if (typeof authorization !== "object" || authorization === null || !isHex(signature)) return undefined;
  const { from, to, value, validAfter, validBefore, nonce } = authorization as Record<string, unknown>;
  const numbers = [value, validAfter, validBefore].map(toUint256);
  if (!isHex(from, 20) || !isHex(to, 20) || !isHex(nonce, 32) || !numbers.every((number) => number !== undefined))
    return undefined;
  const [amount, after, before] = numbers as [bigint, bigint, bigint];
  return { from, to, value: amount, validAfter: after, validBefore: before, nonce, signature };
}

const isHex = (value: unknown, bytes?: number): value is Hex =>
  typeof value === "string" &&
  /^0x(?:[0-9a-fA-F]{2})+$/.test(value) &&
  (bytes === undefined || value.length === 2 + 2 * bytes);

/** Decimal text, or the safe integer that some clients send. */
function toUint256(value: unknown): bigint | undefined {
  const text = typeof value === "number" && Number.isSafeInteger(value) ? String(value) : value;
  if (typeof text !== "string" || !/^\d{1,78}$/.test(text)) return undefined;
  const number = BigInt(text);
  return number < 2n ** 256n ? number : undefined;
}

/** The parts of an EIP-3009 token that a reader needs. */
export const EIP3009_ABI = [
  {
    type: "function",
    name: "authorizationState",
    stateMutability: "view",
    inputs: [
      { name: "authorizer", type: "address" },
      { name: "nonce", type: "bytes32" },
    ],
    outputs: [{ name: "", type: "bool" }],
  },
  {
    type: "event",
    name: "AuthorizationUsed",
    inputs: [
      { name: "authorizer", type: "address", indexed: true },
      { name: "nonce", type: "bytes32", indexed: true },
    ],
  },
  {
    type: "event",
    name: "AuthorizationCanceled",
    inputs: [
      { name: "authorizer", type: "address", indexed: true },
      { name: "nonce", type: "bytes32", indexed: true },
    ],
  },
  {
    type: "event",
    name: "Transfer",
    inputs: [
      { name: "from", type: "address", indexed: true },
      { name: "to", type: "address", indexed: true },
      { name: "value", type: "uint256", indexed: false },
    ],
  },
] as const;
