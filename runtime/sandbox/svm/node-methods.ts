import { VersionedMessage } from "@solana/web3.js";
import { TOKEN_PROGRAM } from "../../drivers/solana/programs.ts";
import { NodeRpcError, type RpcMethods } from "../json-rpc.ts";
import type { SvmAccount, SvmBank } from "./bank.ts";
import { toAccountJson, toAmountJson, toContextJson, VERSION } from "./encoding.ts";
import type { SvmFaucet } from "./faucet.ts";
import { type SvmOptions, toAddress, toOptions } from "./options.ts";
import type { SvmSlots } from "./slots.ts";
import { readToken } from "./tokens.ts";

export interface NodeMethodsOptions extends Pick<SvmFaucet, "airdrop"> {
  readonly bank: SvmBank;
  readonly slots: SvmSlots;
  /** CAIP-2. */
  readonly network: string;
}

/** The genesis hashes of the public clusters. */
const GENESIS_HASHES = [
  "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d",
  "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG",
  "4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY",
];

/**
 * The genesis hash of the network that this chain simulates: the one that begins with the network's CAIP-2 reference.
 */
function toGenesisHash(network: string): string {
  const reference = network.slice("solana:".length);
  return GENESIS_HASHES.find((hash) => hash.startsWith(reference)) ?? reference.padEnd(44, "1");
}

/** The part of Solana's JSON-RPC about the node, its time, its fees and its accounts. */
export function createNodeMethods({ bank, slots, network, airdrop }: NodeMethodsOptions): RpcMethods {
  const genesisHash = toGenesisHash(network);
  const withContext = (value: unknown): object => toContextJson(slots, value);
  const accountJson = (address: unknown, { encoding = "base64" }: SvmOptions): unknown =>
    toAccountJson(bank, bank.account(toAddress(address)), encoding);

  return {
    getHealth: () => "ok",
    getVersion: () => ({ "solana-core": VERSION, "feature-set": 0 }),
    getGenesisHash: () => genesisHash,
    getSlot: () => slots.current(),
    getBlockHeight: () => slots.current(),
    getBlockTime: ([slot]) => slots.timeOf(Number(slot)),
    getEpochInfo: () => toEpochJson(slots.current(), bank.transactions.size),
    getLatestBlockhash: () => withContext(slots.latestBlockhash()),
    isBlockhashValid: ([blockhash]) => withContext(slots.isValid(String(blockhash))),
    getFeeForMessage: ([message]) => {
      const { header, recentBlockhash } = VersionedMessage.deserialize(Buffer.from(String(message), "base64"));
      return withContext(slots.isValid(recentBlockhash) ? SIGNATURE_FEE * header.numRequiredSignatures : null);
    },
    getRecentPrioritizationFees: () => [{ slot: slots.current(), prioritizationFee: 0 }],
    getMinimumBalanceForRentExemption: ([bytes]) => Number(bank.rentFor(Number(bytes))),
    getBalance: ([address]) => withContext(Number(bank.account(toAddress(address))?.lamports ?? 0n)),
    getAccountInfo: ([address, options]) => withContext(accountJson(address, toOptions(options))),
    getMultipleAccounts: ([addresses, options]) =>
      withContext((addresses as unknown[]).map((address) => accountJson(address, toOptions(options)))),
    getTokenAccountBalance: ([address]) => {
      const token = readToken(bank.account(toAddress(address)));
      if (!token) throw new NodeRpcError(-32602, "Invalid param: could not find account");
      return withContext(toAmountJson(bank, token.mint, token.amount));
    },
    getTokenAccountsByOwner: ([owner, filter, given]) => {
      const { encoding = "base64" } = toOptions(given);
      const found = tokenAccountsOf(bank, toAddress(owner), filter as TokenFilter);
      return withContext(
        found.map((account) => ({ pubkey: account.address, account: toAccountJson(bank, account, encoding) })),
      );
    },
    requestAirdrop: ([to, lamports]) => airdrop(toAddress(to), BigInt(Number(lamports))),
  };
}

const EPOCH_SLOTS = 432_000;
/** Lamports for each signature. */
const SIGNATURE_FEE = 5000;

interface TokenFilter {
  readonly mint?: string;
  readonly programId?: string;
}

function tokenAccountsOf(bank: SvmBank, owner: string, { mint, programId }: TokenFilter): SvmAccount[] {
  return bank.accountsOwnedBy(programId ?? TOKEN_PROGRAM).filter((account) => {
    const token = readToken(account);
    return token?.owner === owner && (mint === undefined || token.mint === mint);
  });
}

function toEpochJson(slot: number, transactionCount: number): object {
  return {
    absoluteSlot: slot,
    blockHeight: slot,
    epoch: Math.floor(slot / EPOCH_SLOTS),
    slotIndex: slot % EPOCH_SLOTS,
    slotsInEpoch: EPOCH_SLOTS,
    transactionCount,
  };
}
