import { base58 } from "@scure/base";
import { PublicKey, VersionedMessage } from "@solana/web3.js";
import { RpcError, type RpcMethods } from "./json-rpc.ts";
import type { Execution, LandedTransaction, SvmBank } from "./svm-bank.ts";
import type { SvmSlots } from "./svm-blockhashes.ts";
import {
  type Encoding,
  toAccountJson,
  toAmountJson,
  toBytesJson,
  toInnerJson,
  toTransactionJson,
} from "./svm-encoding.ts";
import { toSentence } from "./svm-errors.ts";
import { readToken, TOKEN_PROGRAM } from "./svm-tokens.ts";
import { toWireTransaction, type WireTransaction } from "./svm-transaction.ts";

/** What the methods stand on. */
export interface SvmMethodsOptions {
  readonly bank: SvmBank;
  readonly slots: SvmSlots;
  /** Takes a transaction that passed its preflight, and carries it to the bank, sooner or later or never. */
  readonly accept: (wire: WireTransaction) => void;
  /** Gives lamports away; answers the transaction's signature. */
  readonly airdrop: (to: string, lamports: bigint) => string;
}

/** The part of Solana's JSON-RPC that wallets, facilitators and payphone use. Every state is final at once. */
export function createSvmMethods({ bank, slots, accept, airdrop }: SvmMethodsOptions): RpcMethods {
  const withContext = (value: unknown): unknown => ({ context: { apiVersion: VERSION, slot: slots.current() }, value });
  const accountJson = (address: string, options: Options): unknown =>
    toAccountJson(bank, bank.account(address), options.encoding ?? "base64");

  return {
    getHealth: () => "ok",
    getVersion: () => ({ "solana-core": VERSION, "feature-set": 0 }),
    getGenesisHash: () => GENESIS_HASH,
    getSlot: () => slots.current(),
    getBlockHeight: () => slots.current(),
    getBlockTime: ([slot]) => slots.timeOf(Number(slot)),
    getEpochInfo: () => {
      const absoluteSlot = slots.current();
      const [epoch, slotIndex] = [Math.floor(absoluteSlot / EPOCH), absoluteSlot % EPOCH];
      const transactionCount = bank.transactions.size;
      return { absoluteSlot, blockHeight: absoluteSlot, epoch, slotIndex, slotsInEpoch: EPOCH, transactionCount };
    },
    getLatestBlockhash: () => withContext(slots.latestBlockhash()),
    isBlockhashValid: ([blockhash]) => withContext(slots.isValid(String(blockhash))),
    getFeeForMessage: ([message]) => {
      const { header, recentBlockhash } = VersionedMessage.deserialize(Buffer.from(String(message), "base64"));
      return withContext(slots.isValid(recentBlockhash) ? FEE * header.numRequiredSignatures : null);
    },
    getRecentPrioritizationFees: () => [{ slot: slots.current(), prioritizationFee: 0 }],
    getMinimumBalanceForRentExemption: ([bytes]) => Number(bank.rentFor(Number(bytes))),
    getBalance: ([address]) => withContext(Number(bank.account(toAddress(address))?.lamports ?? 0n)),
    getAccountInfo: ([address, options]) => withContext(accountJson(toAddress(address), toOptions(options))),
    getMultipleAccounts: ([addresses, options]) =>
      withContext((addresses as unknown[]).map((address) => accountJson(toAddress(address), toOptions(options)))),
    getTokenAccountBalance: ([address]) => {
      const token = readToken(bank.account(toAddress(address)));
      if (!token) throw new RpcError(-32602, "Invalid param: could not find account");
      return withContext(toAmountJson(bank, token.mint, token.amount));
    },
    getTokenAccountsByOwner: ([owner, filter, options]) => {
      const { mint, programId } = filter as { mint?: string; programId?: string };
      const mine = bank.accountsOwnedBy(programId ?? TOKEN_PROGRAM).filter((account) => {
        const token = readToken(account);
        return token?.owner === owner && (mint === undefined || token?.mint === mint);
      });
      const { encoding = "base64" } = toOptions(options);
      return withContext(
        mine.map((account) => ({ pubkey: account.address, account: toAccountJson(bank, account, encoding) })),
      );
    },
    requestAirdrop: ([to, lamports]) => airdrop(toAddress(to), BigInt(Number(lamports))),
    simulateTransaction: ([transaction, given]) => {
      const options = toOptions(given);
      const wire = readTransaction(transaction, options);
      const { sigVerify = false, replaceRecentBlockhash = false } = options;
      if (sigVerify && replaceRecentBlockhash)
        throw new RpcError(-32602, "sigVerify may not be used with replaceRecentBlockhash");
      const execution = bank.simulate(wire, { sigVerify, anyBlockhash: replaceRecentBlockhash });
      return withContext({
        ...toSimulationJson(wire, execution, options),
        ...(replaceRecentBlockhash && { replacementBlockhash: slots.latestBlockhash() }),
      });
    },
    sendTransaction: ([transaction, given]) => {
      const options = toOptions(given);
      const wire = readTransaction(transaction, options);
      if (!options.skipPreflight) {
        const execution = bank.simulate(wire, { sigVerify: true, anyBlockhash: false });
        if (execution.err === "SignatureFailure")
          throw new RpcError(-32003, "Transaction signature verification failure");
        if (execution.err)
          throw new RpcError(
            -32002,
            `Transaction simulation failed: ${toSentence(execution.err)}`,
            toSimulationJson(wire, execution, options),
          );
      }
      accept(wire);
      return wire.signatures[0];
    },
    getSignatureStatuses: ([signatures]) =>
      withContext((signatures as string[]).map((signature) => toStatusJson(bank.transactions.get(signature)))),
    getTransaction: ([signature, given]) => {
      const landed = bank.transactions.get(String(signature));
      if (!landed) return null;
      const { encoding = "json", maxSupportedTransactionVersion } = toOptions(given);
      if (landed.wire.message.version === 0 && maxSupportedTransactionVersion === undefined)
        throw new RpcError(
          -32015,
          'Transaction version (0) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": 0',
        );
      return toTransactionJson(bank, landed, encoding);
    },
    getSignaturesForAddress: ([address, given]) => {
      const { before, until, limit = 1000 } = toOptions(given);
      const newestFirst = [...bank.transactions].reverse();
      const from = before === undefined ? 0 : newestFirst.findIndex(([signature]) => signature === before) + 1;
      const to = until === undefined ? -1 : newestFirst.findIndex(([signature]) => signature === until);
      return newestFirst
        .slice(from, to === -1 ? undefined : to)
        .filter(([, { wire }]) => wire.accounts.includes(toAddress(address)))
        .slice(0, limit)
        .map(([signature, { slot, blockTime, err }]) => ({
          ...{ signature, slot, blockTime, err },
          ...{ memo: null, confirmationStatus: "finalized" },
        }));
    },
  };
}

const VERSION = "2.3.0";
/** Mainnet's, so that clients which look take it for the chain it stands for. */
export const GENESIS_HASH = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d";
const EPOCH = 432_000;
/** Lamports for each signature. */
const FEE = 5000;

/** The configuration object that most methods take last. */
interface Options {
  readonly encoding?: Encoding;
  readonly maxSupportedTransactionVersion?: number;
  readonly skipPreflight?: boolean;
  readonly sigVerify?: boolean;
  readonly replaceRecentBlockhash?: boolean;
  readonly innerInstructions?: boolean;
  readonly before?: string;
  readonly until?: string;
  readonly limit?: number;
}

/** Some methods also take the encoding alone. */
const toOptions = (value: unknown): Options =>
  typeof value === "string" ? { encoding: value as Encoding } : ((value ?? {}) as Options);

const toAddress = (value: unknown): string => new PublicKey(String(value)).toBase58();

/** Base58 is the protocol's old default. */
function readTransaction(value: unknown, { encoding = "base58" }: Options): WireTransaction {
  const text = String(value);
  return toWireTransaction(encoding === "base64" ? Buffer.from(text, "base64") : base58.decode(text));
}

function toSimulationJson(wire: WireTransaction, { err, meta }: Execution, { innerInstructions }: Options): object {
  const returned = meta?.returnData();
  return {
    err,
    logs: meta?.logs() ?? [],
    accounts: null,
    unitsConsumed: Number(meta?.computeUnitsConsumed() ?? 0n),
    returnData: returned?.data().length
      ? { programId: base58.encode(returned.programId()), data: toBytesJson(returned.data(), "base64") }
      : null,
    innerInstructions: innerInstructions ? toInnerJson(wire, meta, true) : null,
  };
}

function toStatusJson(landed: LandedTransaction | undefined): unknown {
  if (!landed) return null;
  const { slot, err } = landed;
  return { slot, confirmations: null, err, status: err ? { Err: err } : { Ok: null }, confirmationStatus: "finalized" };
}
