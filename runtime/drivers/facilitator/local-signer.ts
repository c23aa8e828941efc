import type { FacilitatorEvmSigner } from "@x402/evm";
import type { Abi, PublicClient } from "viem";
import type { Hex } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import type { EvmInclusion, EvmSender, EvmSubmission } from "../evm/sender.ts";

/** What really happened while the SDK settled: it turns every failure into the same answer. */
export interface Trace {
  submission?: EvmSubmission;
  inclusion?: EvmInclusion;
  /** Why nothing was sent, where that is not the payment's fault. */
  failure?: unknown;
}

export interface LocalSignerOptions {
  readonly chain: PublicClient;
  /** The account that sends. */
  readonly address: Hex;
  readonly sender: EvmSender;
  /** Tokens that are known to be contracts, lower case. */
  readonly assets: ReadonlySet<string>;
  readonly confirmationMs: number;
  readonly signal: AbortSignal;
  readonly trace: Trace;
}

/**
 * The signer that @x402/evm settles with, for one call. Its reads go through a watched client, so that an outage which
 * the SDK takes for "no" is noticed by whoever lent the client; its transactions go through the treasury's sender.
 */
export function createLocalSigner(options: LocalSignerOptions): FacilitatorEvmSigner {
  const { chain, address, assets, confirmationMs, signal, trace } = options;
  const codes = new Map<Hex, Promise<Hex | undefined>>();
  return {
    getAddresses: () => [address],
    readContract: (call) => chain.readContract({ ...call, abi: call.abi as Abi }),
    verifyTypedData: (call) => chain.verifyTypedData(call as Parameters<PublicClient["verifyTypedData"]>[0]),
    // The SDK asks for the token's code beside its other checks, and an unheeded failure would end the process.
    getCode: ({ address: of }) => {
      if (assets.has(of.toLowerCase())) return Promise.resolve<Hex>("0x01");
      const code = codes.get(of) ?? chain.getCode({ address: of });
      codes.set(of, code);
      return code;
    },
    writeContract: (call) => write(options, call),
    sendTransaction: () => Promise.reject(new Problem("internal", "No account is deployed for a payer")),
    async waitForTransactionReceipt({ hash }) {
      if (trace.submission?.hash !== hash)
        return chain.waitForTransactionReceipt({ hash, timeout: confirmationMs, pollingInterval: POLL_MS });
      const patience = AbortSignal.any([signal, AbortSignal.timeout(confirmationMs)]);
      trace.inclusion = await trace.submission.included(patience);
      return { status: trace.inclusion.status, logs: trace.inclusion.logs };
    },
  };
}

/** For a transaction of an earlier attempt; this attempt's own is watched by the sender. */
const POLL_MS = 500;

type ContractWrite = Parameters<FacilitatorEvmSigner["writeContract"]>[0];

/** Sends what the SDK would write, unless the token refuses it: estimating is the last look before the money moves. */
async function write({ chain, address, sender, signal, trace }: LocalSignerOptions, call: ContractWrite): Promise<Hex> {
  const { concat, encodeFunctionData } = await import("viem");
  const { abi, functionName, args, dataSuffix = "0x" } = call;
  const data = concat([encodeFunctionData({ abi: abi as Abi, functionName, args }), dataSuffix]);
  try {
    const gas = await chain.estimateGas({ account: address, to: call.address, data });
    if (gas > MOST_GAS) throw new RangeError(`This payment would take ${gas} gas to settle, more than ${MOST_GAS}`);
    trace.submission = await sender.submit({ to: call.address, data, gas: (gas * 6n) / 5n }, signal);
    return trace.submission.hash;
  } catch (error) {
    if (!isRefusal(error)) trace.failure = error;
    throw error;
  }
}

/** A payer's contract checks its own signatures, and the treasury pays for that: ten times what a token needs is enough. */
const MOST_GAS = 1_000_000n;

const isRefusal = (error: unknown): boolean =>
  error instanceof RangeError ||
  (error instanceof Error && error.cause instanceof Error && error.cause.name === "ExecutionRevertedError");
