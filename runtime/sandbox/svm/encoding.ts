import { base58 } from "@scure/base";
import { toDecimal } from "../../core/set/price.ts";
import { TOKEN_PROGRAM } from "../../drivers/solana/programs.ts";
import type { Execution, LandedTransaction, SvmAccount, SvmBank } from "./bank.ts";
import { toLoadedAddresses } from "./lookups.ts";
import type { SvmSlots } from "./slots.ts";
import { readMint, readToken } from "./tokens.ts";
import type { WireTransaction } from "./transaction.ts";

/** The encodings of Solana's RPC. */
export type Encoding = "base58" | "base64" | "json" | "jsonParsed";

/** The version of Solana that this node reports. */
export const VERSION = "2.3.0";

/** A value with its slot (RpcResponse), as most of Solana's methods answer. */
export const toContextJson = (slots: SvmSlots, value: unknown): object => ({
  context: { apiVersion: VERSION, slot: slots.current() },
  value,
});

/** An account in the JSON of Solana's RPC; null when there is none. */
export function toAccountJson(bank: SvmBank, account: SvmAccount | undefined, encoding: Encoding): unknown {
  if (!account) return null;
  const { lamports, owner, executable, data } = account;
  const parsed = encoding === "jsonParsed" ? toParsed(bank, account) : undefined;
  return {
    lamports: Number(lamports),
    owner,
    executable,
    rentEpoch: 0,
    space: data.length,
    data: parsed ?? toBytesJson(data, encoding === "base58" ? "base58" : "base64"),
  };
}

/** `[text, encoding]`. */
export const toBytesJson = (bytes: Uint8Array, encoding: "base58" | "base64"): [string, string] => [
  encoding === "base58" ? base58.encode(bytes) : Buffer.from(bytes).toString("base64"),
  encoding,
];

/** An amount of a token as UiTokenAmount. */
export function toAmountJson(bank: SvmBank, mint: string, amount: bigint): Record<string, unknown> {
  const { decimals = 0 } = readMint(bank.account(mint)) ?? {};
  const text = toDecimal(amount, decimals);
  return { amount: String(amount), decimals, uiAmount: Number(text), uiAmountString: text };
}

function toParsed(bank: SvmBank, account: SvmAccount): unknown {
  const token = readToken(account);
  const mint = readMint(account);
  const space = account.data.length;
  if (mint) {
    const info = { supply: String(mint.supply), decimals: mint.decimals, isInitialized: true, freezeAuthority: null };
    return { program: "spl-token", space, parsed: { type: "mint", info } };
  }
  if (!token) return undefined;
  const tokenAmount = toAmountJson(bank, token.mint, token.amount);
  const info = { mint: token.mint, owner: token.owner, state: "initialized", isNative: false, tokenAmount };
  return { program: "spl-token", space, parsed: { type: "account", info } };
}

/** The answer of `getTransaction`. `jsonParsed` resolves accounts but does not parse the data of instructions. */
export function toTransactionJson(bank: SvmBank, landed: LandedTransaction, encoding: Encoding): unknown {
  const { wire, accounts, slot, blockTime } = landed;
  const bare = encoding === "base58" || encoding === "base64";
  return {
    slot,
    blockTime,
    version: wire.message.version,
    transaction: bare
      ? toBytesJson(wire.raw, encoding)
      : { signatures: wire.signatures, message: toMessageJson(wire, accounts, encoding === "jsonParsed") },
    meta: toMetaJson(bank, landed, encoding === "jsonParsed"),
  };
}

interface Instruction {
  readonly programIdIndex: number;
  readonly accounts: readonly number[];
  readonly data: Uint8Array;
  readonly stackHeight: number;
}

function toMessageJson(wire: WireTransaction, accounts: readonly string[], parsed: boolean): unknown {
  const { message } = wire;
  const instructions = message.compiledInstructions.map(({ programIdIndex, accountKeyIndexes, data }) =>
    toInstructionJson(accounts, { programIdIndex, accounts: accountKeyIndexes, data, stackHeight: 1 }, parsed),
  );
  const accountKeys = accounts.map((pubkey, index) => ({
    pubkey,
    signer: message.isAccountSigner(index),
    writable: message.isAccountWritable(index),
    source: index < wire.accounts.length ? "transaction" : "lookupTable",
  }));
  return {
    ...(parsed ? { accountKeys } : { accountKeys: wire.accounts, header: message.header }),
    recentBlockhash: message.recentBlockhash,
    instructions,
    ...(message.version === 0 && { addressTableLookups: message.addressTableLookups }),
  };
}

function toInstructionJson(accounts: readonly string[], instruction: Instruction, parsed: boolean): unknown {
  const { programIdIndex, stackHeight } = instruction;
  const data = base58.encode(instruction.data);
  if (!parsed) return { programIdIndex, accounts: instruction.accounts, data, stackHeight };
  return {
    programId: accounts[programIdIndex],
    accounts: instruction.accounts.map((index) => accounts[index]),
    data,
    stackHeight,
  };
}

/** The instructions that programs called, grouped by the top-level instruction. */
export function toInnerJson({ accounts: keys, meta }: Execution, parsed: boolean): unknown[] {
  const groups = (meta?.innerInstructions() ?? []).map((group, index) => ({
    index,
    instructions: group.map((inner) => {
      const instruction = inner.instruction();
      const [programIdIndex, accounts] = [instruction.programIdIndex(), [...instruction.accounts()]];
      const stackHeight = inner.stackHeight();
      return toInstructionJson(keys, { programIdIndex, accounts, data: instruction.data(), stackHeight }, parsed);
    }),
  }));
  return groups.filter(({ instructions }) => instructions.length > 0);
}

function toMetaJson(bank: SvmBank, landed: LandedTransaction, parsed: boolean): unknown {
  const { wire, accounts, err, meta, before, after } = landed;
  const lamports = (states: LandedTransaction["before"]): number[] =>
    states.map((account) => Number(account?.lamports ?? 0n));
  const total = (amounts: number[]): number => amounts.reduce((sum, amount) => sum + amount, 0);
  const [preBalances, postBalances] = [lamports(before), lamports(after)];
  return {
    err,
    status: err ? { Err: err } : { Ok: null },
    // Lamports only move between the transaction's accounts: what is missing afterwards is the fee.
    fee: total(preBalances) - total(postBalances),
    preBalances,
    postBalances,
    preTokenBalances: toTokenBalances(bank, before),
    postTokenBalances: toTokenBalances(bank, after),
    logMessages: meta?.logs() ?? [],
    innerInstructions: toInnerJson(landed, parsed),
    loadedAddresses: toLoadedAddresses(wire, accounts),
    computeUnitsConsumed: Number(meta?.computeUnitsConsumed() ?? 0n),
    rewards: [],
  };
}

function toTokenBalances(bank: SvmBank, accounts: LandedTransaction["before"]): unknown[] {
  return accounts.flatMap((account, accountIndex) => {
    const token = readToken(account);
    if (!token) return [];
    const { mint, owner, amount } = token;
    return [{ accountIndex, mint, owner, programId: TOKEN_PROGRAM, uiTokenAmount: toAmountJson(bank, mint, amount) }];
  });
}
