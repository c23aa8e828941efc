import type { FacilitatorEvmSigner } from "@x402/evm";
import type { Abi, PublicClient } from "viem";
import type { Hex } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import type { EvmInclusion, EvmSender, EvmSubmission } from "../evm/sender.ts";
import { bundle, type Deployment, type TreasuryCall } from "./deployment.ts";
import type { DeploymentQuota } from "./deployment-quota.ts";
import type { GasBudget, GasPayer, GasPlace } from "./gas-budget.ts";

/** Why the treasury pays no gas for a payment. */
export interface Declined {
  readonly reason: string;
  /** A sentence. */
  readonly message: string;
}

/** What happened while the SDK verified or settled: it reports every failure in the same way. */
export interface Trace {
  submission?: EvmSubmission;
  inclusion?: EvmInclusion;
  /** Why nothing was sent, when that is not the payment's fault. */
  failure?: unknown;
  /** Why nothing was sent, when the treasury does not pay for it. */
  declined?: Declined;
}

export interface LocalSignerOptions {
  readonly chain: PublicClient;
  /** The account that sends. */
  readonly address: Hex;
  readonly sender: EvmSender;
  readonly budget: GasBudget;
  readonly quota: DeploymentQuota;
  /** Tokens that are known to be contracts, lower case. */
  readonly assets: ReadonlySet<string>;
  readonly terms: GasTerms;
  /** CAIP-2. */
  readonly network: string;
  /** Identifies the authorization: it is broadcast once. */
  readonly authorization: string;
  readonly confirmationMs: number;
  readonly signal: AbortSignal;
  readonly trace: Trace;
}

/** Who the payer is, and what simulations and transactions of its payments share. */
export interface GasTerms {
  readonly payer: GasPayer;
  /** The payer's code; "0x" for an ordinary account, and for a wallet that is not deployed yet. */
  readonly code: Hex;
  /** How the payer is deployed; undefined for whatever stands already, and for ordinary accounts. */
  readonly deployment?: Deployment;
  /** What one settlement may use. */
  readonly mostGas: bigint;
  /** With these fees a simulation sees the gas price that the transaction will have. */
  readonly fees: { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint };
}

/** An ordinary payment uses 50 000 to 100 000. */
const MOST_GAS = 150_000n;
/** A contract checks its own signatures (ERC-1271), and the treasury pays for that: a passkey takes about 300 000. */
const MOST_GAS_OF_CONTRACTS = 400_000n;
/** A wallet's deployment takes 150 000 to 300 000 in addition. */
const MOST_GAS_OF_DEPLOYMENTS = 700_000n;
/** The functions with which the SDK simulates a payment, and one with a deployment. */
const SIMULATIONS: ReadonlySet<string> = new Set(["transferWithAuthorization", "tryAggregate"]);
/** Stands for a deployment that is held back until the transfer, in place of a transaction's hash. */
const HELD_BACK: Hex = `0x${"0".repeat(64)}`;
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
      const real = SIMULATIONS.has(call.functionName) ? { account: address, gas, ...fees } : {};
      return chain.readContract({ ...call, abi: call.abi as Abi, ...real } as ContractRead);
    },
    verifyTypedData: (call) => chain.verifyTypedData(call as Parameters<PublicClient["verifyTypedData"]>[0]),
    // The SDK asks for the token's code beside its other checks, and an unheeded failure would end the process.
    async getCode({ address: of }) {
      if (assets.has(of.toLowerCase())) return "0x01";
      return of.toLowerCase() === payer.address ? code : chain.getCode({ address: of });
    },
    writeContract: (call) => write(options, call),
    // The SDK deploys a wallet first, and moves the money afterwards. Here both are one transaction, in `writeContract`.
    sendTransaction: () =>
      terms.deployment
        ? Promise.resolve(HELD_BACK)
        : Promise.reject(new Problem("internal", "No account is deployed for this payer")),
    async waitForTransactionReceipt({ hash }) {
      if (hash === HELD_BACK) return { status: "success" };
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
  parties: { readonly payer: Hex; readonly treasury: Hex; readonly deployment?: Deployment | undefined },
  sender: EvmSender,
  signal: AbortSignal,
): Promise<GasTerms> {
  const [code = "0x", balance, { baseFee, tip }] = await Promise.all([
    chain.getCode({ address: parties.payer }),
    chain.getBalance({ address: parties.treasury }),
    sender.market(signal),
  ]);
  const deployment = code === "0x" ? parties.deployment : undefined;
  const payer: GasPayer = {
    address: parties.payer.toLowerCase(),
    isContract: code !== "0x" || deployment !== undefined,
  };
  const mostGas = deployment ? MOST_GAS_OF_DEPLOYMENTS : payer.isContract ? MOST_GAS_OF_CONTRACTS : MOST_GAS;
  // The base fee may rise by a quarter until the simulation, and does not change the price that it sees.
  const fees = { maxFeePerGas: (baseFee * 5n) / 4n + tip, maxPriorityFeePerGas: tip };
  if (balance < mostGas * fees.maxFeePerGas)
    throw new Problem("unavailable", `The treasury ${parties.treasury} has too little to pay for gas`);
  return { payer, code, ...(deployment && { deployment }), mostGas, fees };
}

/** Sends what the SDK would write, unless the token refuses it: the estimate is the last look before the money moves. */
async function write(options: LocalSignerOptions, written: ContractWrite): Promise<Hex> {
  const { chain, address, sender, budget, quota, terms, authorization, signal, trace } = options;
  const { payer, deployment, mostGas, fees } = terms;
  const transfer = await encode(written);
  const call = deployment ? await bundle(deployment, transfer) : transfer;
  let place: GasPlace | undefined;
  let isCounted = false;
  try {
    place = await budget.reserve(payer, signal);
    if (!place) throw decline(trace, SPENT);
    isCounted = deployment !== undefined && (await quota.take(payer.address));
    if (deployment && !isCounted) throw decline(trace, NO_MORE_WALLETS);
    const gas = await chain.estimateGas({ account: address, ...call, ...fees });
    if (gas > mostGas) throw new RangeError(`This payment would take ${gas} gas to settle, more than ${mostGas}`);
    const limit = (gas * 6n) / 5n < mostGas ? (gas * 6n) / 5n : mostGas;
    const spentFor = { purpose: "settlement", about: `${options.network}:${authorization}` } as const;
    trace.submission = await sender.submit({ ...call, gas: limit, id: authorization, spentFor }, signal);
    watchPlace(trace.submission, place, options);
    return trace.submission.hash;
  } catch (error) {
    if (!trace.submission) await Promise.all([place?.release(), isCounted && quota.giveBack(payer.address)]);
    if (!isRefusal(error)) trace.failure = error;
    throw error;
  }
}

async function encode({
  address: to,
  abi,
  functionName,
  args,
  dataSuffix = "0x",
}: ContractWrite): Promise<TreasuryCall> {
  const { concat, encodeFunctionData } = await import("viem");
  return { to, data: concat([encodeFunctionData({ abi: abi as Abi, functionName, args }), dataSuffix]) };
}

/** Clears the place when the outcome is known, whoever still waits for it. After a crash the place lapses. */
function watchPlace(
  submission: EvmSubmission,
  place: GasPlace,
  { budget, quota, terms: { payer, deployment } }: LocalSignerOptions,
): void {
  submission
    .included(NEVER)
    .then(async (inclusion) => {
      if (inclusion.status === "success") return void (await Promise.all([place.release(), budget.trust(payer)]));
      await Promise.all([place.lose(inclusion), deployment && quota.giveBack(payer.address)]);
    })
    .catch(() => {}); // The place lapses by itself.
}

const NEVER = new AbortController().signal;

/** The payer has burned too much gas. */
export const SPENT: Declined = {
  reason: "invalid_exact_evm_payer_reverts",
  message: "Too many transactions of this payer have reverted today",
};

/** The day's deployments are used up. */
export const NO_MORE_WALLETS: Declined = {
  reason: "invalid_exact_evm_too_many_deployments",
  message: "No more wallets are deployed here today: deploy this one yourself, then sign again",
};

function decline(trace: Trace, declined: Declined): RangeError {
  trace.declined = declined;
  return new RangeError(declined.message);
}

const isRefusal = (error: unknown): boolean =>
  error instanceof RangeError ||
  (error instanceof Error && error.cause instanceof Error && error.cause.name === "ExecutionRevertedError");
