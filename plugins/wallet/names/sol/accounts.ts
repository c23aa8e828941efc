import { base58 } from "@scure/base";
import type { Upstream } from "#plugin";
import { toJsonFields } from "../../fields.ts";
import { askNode, toMisfit } from "../../node.ts";

/** A Solana account's state. */
export interface SolanaAccount {
  /** The program that owns the account. */
  readonly program: string;
  readonly data: Buffer;
}

/** The owner of addresses that have only received SOL, where no program has stored data. */
const SYSTEM_PROGRAM = "11111111111111111111111111111111";
const FINALIZED = { commitment: "finalized" } as const;
/** Token-2022: its accounts may go on behind the layout, and then say of which kind they are. */
const EXTENDED = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb";
/** Both programs have the same token account layout: mint, owner, amount. */
const TOKEN_PROGRAMS = new Set(["TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA", EXTENDED]);
const TOKEN_ACCOUNT_BYTES = 165;
const TOKEN_ACCOUNT_KIND = 2;
const MULTISIG_BYTES = 355;

/** Reads accounts in the order of their addresses; undefined for those without data. @throws the errors of `askNode`. */
export async function readAccounts(
  node: Upstream,
  addresses: readonly string[],
  signal: AbortSignal,
): Promise<(SolanaAccount | undefined)[]> {
  const method = "getMultipleAccounts";
  const options = { encoding: "base64", ...FINALIZED };
  const { value } = toJsonFields(await askNode(node, [method, [addresses, options]], signal));
  if (!Array.isArray(value) || value.length !== addresses.length) throw toMisfit(node, method);
  return value.map((account) => {
    if (account === null) return undefined;
    const { owner, data } = toJsonFields(account);
    const text = Array.isArray(data) ? data[0] : undefined;
    if (typeof owner !== "string" || typeof text !== "string") throw toMisfit(node, method);
    return owner === SYSTEM_PROGRAM ? undefined : { program: owner, data: Buffer.from(text, "base64") };
  });
}

/** The node's error code for a mint that does not exist. */
const INVALID_PARAMS = -32602;

/** The holder of an NFT; undefined when the mint does not exist or has more than one unit. @throws the errors of `askNode`. */
export async function readHolder(node: Upstream, mint: string, signal: AbortSignal): Promise<string | undefined> {
  const method = "getTokenLargestAccounts";
  const { result, error } = await node.rpc(method, [mint, FINALIZED], { signal });
  if (error?.code === INVALID_PARAMS) return undefined;
  const { value } = toJsonFields(result);
  if (!Array.isArray(value)) throw toMisfit(node, method);
  const [largest, next] = value.map(toJsonFields);
  if (typeof largest?.address !== "string" || (next && next.amount !== "0")) return undefined;
  const [account] = await readAccounts(node, [largest.address], signal);
  if (!account || !TOKEN_PROGRAMS.has(account.program) || account.data.length < TOKEN_ACCOUNT_BYTES) return undefined;
  const isHolder = readKey(account.data, 0) === mint && account.data.readBigUInt64LE(64) === 1n;
  return isHolder ? readKey(account.data, 32) : undefined;
}

/** The wallet to which a token account belongs; undefined for any other address. @throws the errors of `askNode`. */
export async function readTokenOwner(
  node: Upstream,
  address: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const [account] = await readAccounts(node, [address], signal);
  return account && isTokenAccount(account) ? readKey(account.data, 32) : undefined;
}

function isTokenAccount({ program, data }: SolanaAccount): boolean {
  if (data.length === TOKEN_ACCOUNT_BYTES) return TOKEN_PROGRAMS.has(program);
  return program === EXTENDED && data.length !== MULTISIG_BYTES && data[TOKEN_ACCOUNT_BYTES] === TOKEN_ACCOUNT_KIND;
}

/** The public key at this offset, in base58. */
export const readKey = (data: Buffer, offset: number): string => base58.encode(data.subarray(offset, offset + 32));
