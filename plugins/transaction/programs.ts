import { base58 } from "@scure/base";
import { type Layout, type NamedInstruction, readLayout } from "./layouts.ts";
import { ASSOCIATED_TOKEN, COMPUTE_BUDGET, MEMO, STAKE, SYSTEM, TOKEN } from "./program-layouts.ts";

/** What is known of a call, from its program and its bytes. */
export type Parsed = {
  /** The program's name, as Solana's own tools call it; null for programs that are not built in or well known. */
  readonly program: string | null;
  /** The instruction and its arguments by name; null for one that is not known here. */
  readonly parsed: NamedInstruction | null;
};

/** Reads an instruction; what it does not know, it leaves as it is. @param data base58. */
export function parseInstruction(programId: string, accounts: readonly string[], data: string): Parsed {
  const [program, layouts = []] = PROGRAMS.get(programId) ?? [null];
  if (layouts.length === 0 || data.length > LONGEST_DATA) return { program, parsed: null };
  return { program, parsed: readLayout(layouts, accounts, Buffer.from(base58.decode(data))) };
}

/** Base58 takes time with the square of the length. This is what fits into a transaction, of 1232 bytes. */
const LONGEST_DATA = 1683;

const PROGRAMS: ReadonlyMap<string, readonly [name: string, layouts?: readonly Layout[]]> = new Map([
  ["11111111111111111111111111111111", ["system", SYSTEM]],
  ["TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA", ["spl-token", TOKEN]],
  ["TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb", ["spl-token-2022", TOKEN]],
  ["ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL", ["spl-associated-token-account", ASSOCIATED_TOKEN]],
  ["MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr", ["spl-memo", MEMO]],
  ["Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo", ["spl-memo", MEMO]],
  ["ComputeBudget111111111111111111111111111111", ["compute-budget", COMPUTE_BUDGET]],
  ["Stake11111111111111111111111111111111111111", ["stake", STAKE]],
  ["Vote111111111111111111111111111111111111111", ["vote"]],
  ["Config1111111111111111111111111111111111111", ["config"]],
  ["AddressLookupTab1e1111111111111111111111111", ["address-lookup-table"]],
  ["BPFLoader1111111111111111111111111111111111", ["bpf-loader-deprecated"]],
  ["BPFLoader2111111111111111111111111111111111", ["bpf-loader"]],
  ["BPFLoaderUpgradeab1e11111111111111111111111", ["bpf-upgradeable-loader"]],
  ["LoaderV411111111111111111111111111111111111", ["loader-v4"]],
  ["Ed25519SigVerify111111111111111111111111111", ["ed25519"]],
  ["KeccakSecp256k11111111111111111111111111111", ["secp256k1"]],
  ["Secp256r1SigVerify1111111111111111111111111", ["secp256r1"]],
]);
