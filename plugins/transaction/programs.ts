import { base58 } from "@scure/base";
import { type InstructionLayout, type NamedInstruction, readLayout } from "./layouts.ts";
import { ASSOCIATED_TOKEN, COMPUTE_BUDGET, MEMO, SPL_TOKEN, STAKE, SYSTEM } from "./program-layouts.ts";

/** The decoded part of an instruction. */
export type Parsed = {
  /** The name that Solana's own tools use; null for a program that is not in the table below. */
  readonly program: string | null;
  /** Null for an instruction that is not in the tables. */
  readonly parsed: NamedInstruction | null;
};

/** Decodes an instruction as far as its program is known. @param data base58. */
export function parseInstruction(programId: string, accounts: readonly string[], data: string): Parsed {
  const [program, layouts = []] = PROGRAMS.get(programId) ?? [null];
  if (layouts.length === 0 || data.length > LONGEST_DATA) return { program, parsed: null };
  return { program, parsed: readLayout(layouts, accounts, Buffer.from(base58.decode(data))) };
}

/** The library decodes no longer texts: base58 takes quadratic time. */
const LONGEST_DATA = 4096;

const PROGRAMS: ReadonlyMap<string, readonly [name: string, layouts?: readonly InstructionLayout[]]> = new Map([
  ["11111111111111111111111111111111", ["system", SYSTEM]],
  ["TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA", ["spl-token", SPL_TOKEN]],
  ["TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb", ["spl-token-2022", SPL_TOKEN]],
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
