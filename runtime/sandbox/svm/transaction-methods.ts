import { base58 } from "@scure/base";
import { NodeRpcError, type RpcMethods } from "../json-rpc.ts";
import type { Execution, LandedTransaction, SvmBank } from "./bank.ts";
import { toBytesJson, toContextJson, toInnerJson, toTransactionJson } from "./encoding.ts";
import { toSentence } from "./errors.ts";
import type { SvmMempool } from "./mempool.ts";
import { type SvmOptions, toAddress, toOptions } from "./options.ts";
import type { SvmSlots } from "./slots.ts";
import { toWireTransaction, type WireTransaction } from "./transaction.ts";

export interface TransactionMethodsOptions extends Pick<SvmMempool, "accept"> {
  readonly bank: SvmBank;
  readonly slots: SvmSlots;
}

/** The part of Solana's JSON-RPC about transactions. A landed transaction is final at once. */
export function createTransactionMethods({ bank, slots, accept }: TransactionMethodsOptions): RpcMethods {
  const withContext = (value: unknown): object => toContextJson(slots, value);
  return {
    simulateTransaction: ([transaction, given]) => {
      const options = toOptions(given);
      const { sigVerify = false, replaceRecentBlockhash = false } = options;
      if (sigVerify && replaceRecentBlockhash)
        throw new NodeRpcError(-32602, "sigVerify may not be used with replaceRecentBlockhash");
      const wire = readTransaction(transaction, options);
      const execution = bank.simulate(wire, { sigVerify, anyBlockhash: replaceRecentBlockhash });
      return withContext(toSimulationJson(execution, options));
    },
    sendTransaction: ([transaction, given]) => {
      const options = toOptions(given);
      const wire = readTransaction(transaction, options);
      if (!options.skipPreflight) preflight(bank, wire);
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
        throw new NodeRpcError(-32015, UNSUPPORTED_VERSION);
      return toTransactionJson(bank, landed, encoding);
    },
    getSignaturesForAddress: ([address, given]) => listSignatures(bank, toAddress(address), toOptions(given)),
  };
}

const UNSUPPORTED_VERSION =
  "Transaction version (0) is not supported by the requesting client. " +
  'Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": 0';

/** The default encoding of transactions in Solana's RPC is base58. */
function readTransaction(value: unknown, { encoding = "base58" }: SvmOptions): WireTransaction {
  const text = String(value);
  return toWireTransaction(encoding === "base64" ? Buffer.from(text, "base64") : base58.decode(text));
}

function preflight(bank: SvmBank, wire: WireTransaction): void {
  const execution = bank.simulate(wire, { sigVerify: true, anyBlockhash: false });
  const { err } = execution;
  if (err === "SignatureFailure") throw new NodeRpcError(-32003, "Transaction signature verification failure");
  if (err) {
    const message = `Transaction simulation failed: ${toSentence(err)}`;
    throw new NodeRpcError(-32002, message, toSimulationJson(execution, {}));
  }
}

function toSimulationJson(execution: Execution, { innerInstructions }: SvmOptions): object {
  const { err, meta } = execution;
  const returned = meta?.returnData();
  return {
    err,
    logs: meta?.logs() ?? [],
    accounts: null,
    unitsConsumed: Number(meta?.computeUnitsConsumed() ?? 0n),
    returnData: returned?.data().length
      ? { programId: base58.encode(returned.programId()), data: toBytesJson(returned.data(), "base64") }
      : null,
    innerInstructions: innerInstructions ? toInnerJson(execution, true) : null,
  };
}

function toStatusJson(landed: LandedTransaction | undefined): object | null {
  if (!landed) return null;
  const { slot, err } = landed;
  return { slot, confirmations: null, err, status: err ? { Err: err } : { Ok: null }, confirmationStatus: "finalized" };
}

/** Newest first. `before` and `until` are signatures, both exclusive. */
function listSignatures(bank: SvmBank, address: string, { before, until, limit = 1000 }: SvmOptions): object[] {
  const newestFirst = [...bank.transactions].reverse();
  const indexOf = (wanted: string | undefined): number => newestFirst.findIndex(([signature]) => signature === wanted);
  const end = indexOf(until);
  return newestFirst
    .slice(indexOf(before) + 1, end === -1 ? undefined : end)
    .filter(([, { accounts }]) => accounts.includes(address))
    .slice(0, limit)
    .map(([signature, { slot, blockTime, err }]) => ({
      signature,
      slot,
      blockTime,
      err,
      memo: null,
      confirmationStatus: "finalized",
    }));
}
