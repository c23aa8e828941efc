import type { FacilitatorEvmSigner } from "@x402/evm";
import type { PublicClient } from "viem";
import type { Hex } from "../../../api/capabilities.ts";
import { Problem } from "../../../api/problem.ts";
import type { EvmSender, EvmSubmission } from "../../evm/sender/sender.ts";
import type { EvmInclusion } from "../../evm/sender/signer.ts";
import { bundle, type TreasuryCall } from "../deployment.ts";
import type { Coverage, CoveredPayment } from "./coverage.ts";
import type { DeploymentQuota } from "./deployment-quota.ts";
import { type GasBudget, type GasPlace, isLate } from "./gas-budget.ts";
import type { GasTerms } from "./gas-terms.ts";

/** Why the treasury declines to pay the gas of a payment. */
export interface Declined {
  readonly reason: string;
  /** A sentence. */
  readonly message: string;
}

/** What happened while the SDK verified or settled; the SDK itself reports every failure alike. */
export interface Trace {
  submission?: EvmSubmission;
  inclusion?: EvmInclusion;
  /** Why nothing was sent, when the payment is not the cause. */
  failure?: unknown;
  /** Why nothing was sent, when the treasury declined to pay the gas. */
  declined?: Declined;
}

export interface LocalSignerOptions {
  readonly chain: PublicClient;
  /** The sending account. */
  readonly address: Hex;
  readonly sender: EvmSender;
  readonly budget: GasBudget;
  readonly coverage: Coverage;
  readonly quota: DeploymentQuota;
  /** The decimals of tokens that are known to be contracts, by their address in lower case. */
  readonly assets: ReadonlyMap<string, number>;
  readonly terms: GasTerms;
  /** CAIP-2. */
  readonly network: string;
  /** Identifies the authorization, which is broadcast only once. */
  readonly authorization: string;
  /** Payer and nonce, by which the shop knows the payment on this network. */
  readonly paymentId: string;
  /** Atomic units, decimal text. */
  readonly value: string;
  /** When the authorization expires: Unix seconds. */
  readonly validBefore: string;
  readonly confirmationMs: number;
  readonly signal: AbortSignal;
  readonly trace: Trace;
}

/** The functions in which the SDK simulates a payment, without and with a deployment. */
const SIMULATIONS: ReadonlySet<string> = new Set(["transferWithAuthorization", "tryAggregate"]);
/** The transaction hash that the SDK gets for a deployment, which is really sent together with the transfer. */
const HELD_BACK: Hex = `0x${"0".repeat(64)}`;
/** The interval of the search for a transaction of an earlier attempt; the sender watches this attempt's own. */
const POLL_MS = 500;

/**
 * The signer for @x402/evm, for one call. Its reads go through a watched client, so that `client.ask` notices an outage
 * that the SDK takes for a "no"; its transactions go through the treasury's sender.
 */
export function createLocalSigner(options: LocalSignerOptions): FacilitatorEvmSigner {
  const { chain, address, assets, terms, confirmationMs, signal, trace } = options;
  const { payer, code, mostGas: gas, fees } = terms;

  return {
    getAddresses: () => [address],
    readContract(call) {
      const isVerified = call.functionName === "isValidSignature";
      const real = SIMULATIONS.has(call.functionName) ? { account: address, gas, ...fees } : isVerified ? { gas } : {};
      return chain.readContract({ ...call, ...real } as ContractRead);
    },
    verifyTypedData: (call) => chain.verifyTypedData(call as Parameters<PublicClient["verifyTypedData"]>[0]),
    // The SDK reads the token's code without handling a rejection, which would end the process.
    async getCode({ address: of }) {
      if (assets.has(of.toLowerCase())) return "0x01";
      return of.toLowerCase() === payer.address ? code : chain.getCode({ address: of });
    },
    writeContract: (call) => write(options, call),
    // The SDK deploys a wallet before it moves the money. Here `writeContract` sends both in one transaction.
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

/** viem passes further members of a call on to `eth_call`, although its type lacks them. */
type ContractRead = Parameters<PublicClient["readContract"]>[0];
type ContractWrite = Parameters<FacilitatorEvmSigner["writeContract"]>[0];

/**
 * Sends the SDK's transaction, unless the token refuses it: the gas estimate is the last check before it moves money.
 */
async function write(options: LocalSignerOptions, written: ContractWrite): Promise<Hex> {
  const { chain, address, sender, budget, coverage, quota, terms, authorization, signal, trace } = options;
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
    if (!payer.isContract) place = await coverage.hold(place, toCovered(options, written.address), signal);
    const gas = await chain.estimateGas({ account: address, ...call, ...fees });
    if (gas > mostGas) throw new RangeError(`This payment would take ${gas} gas to settle, more than ${mostGas}`);
    const limit = (gas * 6n) / 5n < mostGas ? (gas * 6n) / 5n : mostGas;
    const spentFor = { purpose: "settlement", about: `${options.network}:${options.paymentId}` } as const;
    trace.submission = await sender.submit({ ...call, gas: limit, id: authorization, spentFor }, signal);
    watchPlace(trace.submission, place, options);
    return trace.submission.hash;
  } catch (error) {
    if (!isRefusal(error)) trace.failure = error;
    // What a store that is gone does not take back expires by itself.
    if (!trace.submission) await Promise.allSettled([place?.release(), isCounted && quota.giveBack(payer.address)]);
    throw error;
  }
}

function toCovered({ chain, terms, assets, value, authorization }: LocalSignerOptions, asset: Hex): CoveredPayment {
  const { address: from } = terms.payer;
  return {
    id: authorization,
    account: `${from}:${asset}`.toLowerCase(),
    value,
    decimals: assets.get(asset.toLowerCase()) ?? 0,
    async balance() {
      const { erc20Abi } = await import("viem");
      const args = [from as Hex] as const;
      return chain.readContract({ address: asset, abi: erc20Abi, functionName: "balanceOf", args });
    },
  };
}

async function encode({
  address: to,
  abi,
  functionName,
  args,
  dataSuffix = "0x",
}: ContractWrite): Promise<TreasuryCall> {
  const { concat, encodeFunctionData } = await import("viem");
  return { to, data: concat([encodeFunctionData({ abi, functionName, args }), dataSuffix]) };
}

/** Clears the place when the outcome is known, even when no caller waits. After a crash the place expires. */
function watchPlace(
  submission: EvmSubmission,
  place: GasPlace,
  { chain, validBefore, budget, quota, terms: { payer, deployment } }: LocalSignerOptions,
): void {
  submission
    .included(NEVER)
    .then(async (inclusion) => {
      if (inclusion.status === "success") return void (await Promise.all([place.release(), budget.trust(payer)]));
      const isBlameless = await isLate(chain, inclusion, validBefore);
      const counted = isBlameless ? [budget.lose(undefined, inclusion), place.release()] : [place.lose(inclusion)];
      await Promise.all([...counted, deployment && quota.giveBack(payer.address)]);
    })
    .catch(() => {}); // The place expires by itself.
}

const NEVER = new AbortController().signal;

/** The payer has wasted too much gas. */
export const SPENT: Declined = {
  reason: "invalid_exact_evm_payer_reverts",
  message: "Too many transactions of this payer have reverted today",
};

/** The day's quota of deployments is used up. */
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
