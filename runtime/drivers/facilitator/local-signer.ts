import type { FacilitatorEvmSigner } from "@x402/evm";
import type { Abi, PublicClient } from "viem";
import type { Hex } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import type { EvmInclusion, EvmSender, EvmSubmission } from "../evm/sender.ts";
import type { GasBudget, GasPayer, GasPlace } from "./gas-budget.ts";

/** What happened while the SDK verified or settled: it reports every failure in the same way. */
export interface Trace {
  submission?: EvmSubmission;
  inclusion?: EvmInclusion;
  /** Why nothing was sent, when that is not the payment's fault. */
  failure?: unknown;
  /** Whether nothing was sent because the payer has burned too much gas. */
  isSpent?: boolean;
}

export interface LocalSignerOptions {
  readonly chain: PublicClient;
  /** The account that sends. */
  readonly address: Hex;
  readonly sender: EvmSender;
  readonly budget: GasBudget;
  /** Tokens that are known to be contracts, lower case. */
  readonly assets: ReadonlySet<string>;
  readonly terms: GasTerms;
  /** Identifies the authorization: it is broadcast once. */
  readonly authorization: string;
  readonly confirmationMs: number;
  readonly signal: AbortSignal;
  readonly trace: Trace;
}

/** Who the payer is, and what simulations and transactions of its payments share. */
export interface GasTerms {
  readonly payer: GasPayer;
  /** The payer's code; "0x" for an ordinary account. */
  readonly code: Hex;
  /** What one settlement may use. */
  readonly mostGas: bigint;
  /** With these fees a simulation sees the gas price that the transaction will have. */
  readonly fees: { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint };
}

/** An ordinary payment uses 50 000 to 100 000. */
const MOST_GAS = 150_000n;
/** A contract checks its own signatures (ERC-1271), and the treasury pays for that: a passkey takes about 300 000. */
const MOST_GAS_OF_CONTRACTS = 400_000n;
/** The function with which the SDK simulates a payment. */
const TRANSFER = "transferWithAuthorization";
/** How often a transaction of an earlier attempt is looked for; the sender watches this attempt's own. */
const POLL_MS = 500;

/**
 * The signer that @x402/evm verifies and settles with, for one call. Its reads go through a watched client, so that
 * whoever lent the client notices an outage that the SDK takes for "no"; its transactions go through the treasury's sender.
 */
export function createLocalSigner(options: LocalSignerOptions): FacilitatorEvmSigner {
  const { chain, address, assets, terms, confirmationMs, signal, trace } = options;
  const { payer, code, mostGas: gas, fees } = terms;

  return {
    getAddresses: () => [address],
    readContract(call) {
      const real = call.functionName === TRANSFER ? { account: address, gas, ...fees } : {};
      return chain.readContract({ ...call, abi: call.abi as Abi, ...real } as ContractRead);
    },
    verifyTypedData: (call) => chain.verifyTypedData(call as Parameters<PublicClient["verifyTypedData"]>[0]),
    // The SDK asks for the token's code beside its other checks, and an unheeded failure would end the process.
    async getCode({ address: of }) {
      if (assets.has(of.toLowerCase())) return "0x01";
      return of.toLowerCase() === payer.address ? code : chain.getCode({ address: of });
    },
    writeContract: (call) => write(options, call),
    sendTransaction: () => Promise.reject(new Problem("internal", "No account is deployed for a payer")),
    async waitForTransactionReceipt({ hash }) {
      if (trace.submission?.hash !== hash)
        return chain.waitForTransactionReceipt({ hash, timeout: confirmationMs, pollingInterval: POLL_MS });
      const bounded = AbortSignal.any([signal, AbortSignal.timeout(confirmationMs)]);
      trace.inclusion = await trace.submission.included(bounded);
      return { status: trace.inclusion.status, logs: trace.inclusion.logs };
    },
  };
}

/** viem passes the members of a call on to `eth_call`, which its type does not say. */
type ContractRead = Parameters<PublicClient["readContract"]>[0];
type ContractWrite = Parameters<FacilitatorEvmSigner["writeContract"]>[0];

/**
 * @param parties.treasury the account that pays for the gas.
 * @throws Problem `unavailable` when it cannot, which a simulation would report as the payment's fault; what the chain or
 * the sender's store throw.
 */
export async function readGasTerms(
  chain: PublicClient,
  parties: { readonly payer: Hex; readonly treasury: Hex },
  sender: EvmSender,
  signal: AbortSignal,
): Promise<GasTerms> {
  const [code = "0x", balance, { baseFee, tip }] = await Promise.all([
    chain.getCode({ address: parties.payer }),
    chain.getBalance({ address: parties.treasury }),
    sender.market(signal),
  ]);
  const payer: GasPayer = { address: parties.payer.toLowerCase(), isContract: code !== "0x" };
  const mostGas = payer.isContract ? MOST_GAS_OF_CONTRACTS : MOST_GAS;
  // The base fee may rise by a quarter until the simulation, and does not change the price that it sees.
  const fees = { maxFeePerGas: (baseFee * 5n) / 4n + tip, maxPriorityFeePerGas: tip };
  if (balance < mostGas * fees.maxFeePerGas)
    throw new Problem("unavailable", `The treasury ${parties.treasury} has too little to pay for gas`);
  return { payer, code, mostGas, fees };
}

/** Sends what the SDK would write, unless the token refuses it: the estimate is the last look before the money moves. */
async function write(options: LocalSignerOptions, call: ContractWrite): Promise<Hex> {
  const { chain, address, sender, budget, terms, authorization, signal, trace } = options;
  const { payer, mostGas, fees } = terms;
  const { concat, encodeFunctionData } = await import("viem");
  const { abi, functionName, args, dataSuffix = "0x" } = call;
  const data = concat([encodeFunctionData({ abi: abi as Abi, functionName, args }), dataSuffix]);
  let place: GasPlace | undefined;
  try {
    place = await budget.reserve(payer, signal);
    if (!place) throw refuseSpent(trace);
    const gas = await chain.estimateGas({ account: address, to: call.address, data, ...fees });
    if (gas > mostGas) throw new RangeError(`This payment would take ${gas} gas to settle, more than ${mostGas}`);
    const limit = (gas * 6n) / 5n < mostGas ? (gas * 6n) / 5n : mostGas;
    trace.submission = await sender.submit({ to: call.address, data, gas: limit, id: authorization }, signal);
    watchPlace(trace.submission, payer, place, budget);
    return trace.submission.hash;
  } catch (error) {
    if (!trace.submission) await place?.release();
    if (!isRefusal(error)) trace.failure = error;
    throw error;
  }
}

/** Clears the place when the outcome is known, whoever still waits for it. After a crash the place lapses. */
function watchPlace(submission: EvmSubmission, payer: GasPayer, place: GasPlace, budget: GasBudget): void {
  submission
    .included(NEVER)
    .then(async (inclusion) => {
      if (inclusion.status === "reverted") return place.lose(inclusion);
      await Promise.all([place.release(), budget.trust(payer)]);
    })
    .catch(() => {}); // The place lapses by itself.
}

const NEVER = new AbortController().signal;

function refuseSpent(trace: Trace): RangeError {
  trace.isSpent = true;
  return new RangeError("Too many transactions of this payer have reverted");
}

const isRefusal = (error: unknown): boolean =>
  error instanceof RangeError ||
  (error instanceof Error && error.cause instanceof Error && error.cause.name === "ExecutionRevertedError");
