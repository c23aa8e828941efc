import { base58 } from "@scure/base";
import type { Upstream } from "#plugin";
import { toFields } from "../fields.ts";
import { askNode, toMisfit } from "../node.ts";

/** An account's state. */
export interface Account {
  /** The program that it belongs to. */
  readonly program: string;
  readonly data: Buffer;
}

/** Whom an address belongs to that has been sent money, and was never made an account. */
const SYSTEM_PROGRAM = "11111111111111111111111111111111";
const FINALIZED = { commitment: "finalized" } as const;
/** A token account's layout, which is the same in both programs: mint, owner, amount. */
const TOKEN_PROGRAMS = new Set([
  "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
  "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb",
]);
const TOKEN_ACCOUNT_BYTES = 165;

/** What programs keep at these addresses, in their order; undefined where there is nothing. @throws as `askNode`. */
export async function readAccounts(
  node: Upstream,
  addresses: readonly string[],
  signal: AbortSignal,
): Promise<(Account | undefined)[]> {
  const method = "getMultipleAccounts";
  const options = { encoding: "base64", ...FINALIZED };
  const { value } = toFields(await askNode(node, [method, [addresses, options]], signal));
  if (!Array.isArray(value) || value.length !== addresses.length) throw toMisfit(node, method);
  return value.map((account) => {
    if (account === null) return undefined;
    const { owner, data } = toFields(account);
    const text = Array.isArray(data) ? data[0] : undefined;
    if (typeof owner !== "string" || typeof text !== "string") throw toMisfit(node, method);
    return owner === SYSTEM_PROGRAM ? undefined : { program: owner, data: Buffer.from(text, "base64") };
  });
}

/** A node's code for a mint that does not exist. */
const INVALID_PARAMS = -32602;

/** Who holds the only unit of a token; undefined when there is no such token, or more than one unit of it. @throws as `askNode`. */
export async function readHolder(node: Upstream, mint: string, signal: AbortSignal): Promise<string | undefined> {
  const method = "getTokenLargestAccounts";
  const { result, error } = await node.rpc(method, [mint, FINALIZED], { signal });
  if (error?.code === INVALID_PARAMS) return undefined;
  const { value } = toFields(result);
  if (!Array.isArray(value)) throw toMisfit(node, method);
  const [largest, next] = value.map(toFields);
  if (typeof largest?.address !== "string" || (next && next.amount !== "0")) return undefined;
  const [account] = await readAccounts(node, [largest.address], signal);
  if (!account || !TOKEN_PROGRAMS.has(account.program) || account.data.length < TOKEN_ACCOUNT_BYTES) return undefined;
  const isHolder = readKey(account.data, 0) === mint && account.data.readBigUInt64LE(64) === 1n;
  return isHolder ? readKey(account.data, 32) : undefined;
}

/** The public key that begins at this byte, in base58. */
export const readKey = (data: Buffer, offset: number): string => base58.encode(data.subarray(offset, offset + 32));
