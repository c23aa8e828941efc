import type { PublicClient } from "viem";
import type { Hex } from "../../api/capabilities.ts";
import type { Eip3009 } from "../../core/x402/eip3009.ts";
import type { PaymentRequirements } from "../../core/x402/x402.ts";
import { ERC1271_ABI, ERC1271_MAGIC_VALUE } from "../evm/erc1271.ts";
import { toAuthorizationDigest } from "../evm/payer-proof.ts";
import type { EvmCall } from "../evm/sender/sender.ts";

/** The call that deploys a wallet; anybody may make it (ERC-6492). */
export interface Deployment {
  readonly factory: Hex;
  readonly data: Hex;
}

/** A payer's signature, unwrapped, and the deployment that it was wrapped with. */
export interface ReadSignature {
  /** The signature in the form that the wallet accepts. */
  readonly inner: Hex;
  readonly deployment: Deployment | undefined;
}

/** A call of the treasury: the target and its calldata. */
export type TreasuryCall = Required<Pick<EvmCall, "to" | "data">>;

/** Multicall3 has the same address on every public EVM chain. */
export const MULTICALL3 = "0xcA11bde05977b3631167028862bE2a173976CA11";

/** Why a payment is refused whose signature `readSignature` cannot read: a code and a sentence. */
export const MALFORMED = {
  reason: "invalid_exact_evm_signature_format",
  message: "The signature has the ending of ERC-6492 and not its beginning",
} as const;

/** Unwraps an ERC-6492 signature, and leaves others as they are; undefined for a malformed one. */
export async function readSignature(signature: Hex): Promise<ReadSignature | undefined> {
  const { isErc6492Signature, parseErc6492Signature } = await import("viem");
  if (!isErc6492Signature(signature)) return { inner: signature, deployment: undefined };
  try {
    const { address: factory, data, signature: inner } = parseErc6492Signature(signature);
    return factory && data ? { inner, deployment: { factory, data } } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Deployment and transfer in one transaction, so that nobody gets a wallet without paying: when the transfer fails, the
 * wallet is not deployed. The factory may fail, because somebody else may have deployed the wallet meanwhile.
 */
export async function bundle({ factory, data }: Deployment, transfer: TreasuryCall): Promise<TreasuryCall> {
  return aggregate([
    { target: factory, allowFailure: true, callData: data },
    { target: transfer.to, allowFailure: false, callData: transfer.data },
  ]);
}

/**
 * Simulates whether the deployment creates a contract at the payer's address that accepts the signature (ERC-1271).
 * Without this check, a payment of an ordinary account could have any wallet of an allowed factory deployed.
 * @param terms the calling account and its gas
 */
export async function makesSigner(
  chain: PublicClient,
  { factory, data }: Deployment,
  { authorization, inner, offer }: SignedPayment,
  terms: CallTerms,
): Promise<boolean> {
  const { decodeFunctionResult, encodeFunctionData, multicall3Abi } = await import("viem");
  const args = [await toDigest(authorization, offer), inner] as const;
  const callData = encodeFunctionData({ abi: ERC1271_ABI, functionName: "isValidSignature", args });
  const calls = [
    { target: factory, allowFailure: true, callData: data },
    { target: authorization.from, allowFailure: true, callData },
  ];
  // Running out of gas refuses the whole call; `client.ask` notices outages.
  const { data: answer } = await chain
    .call({ ...(await aggregate(calls)), ...terms })
    .catch(() => ({ data: undefined }));
  if (answer === undefined) return false;
  const [, verdict] = decodeFunctionResult({ abi: multicall3Abi, functionName: "aggregate3", data: answer });
  return verdict?.success === true && verdict.returnData.startsWith(ERC1271_MAGIC_VALUE);
}

/** The signed data, and the signature in the form that the wallet accepts. */
export interface SignedPayment {
  readonly authorization: Eip3009["authorization"];
  readonly inner: Hex;
  readonly offer: PaymentRequirements;
}

interface CallTerms {
  readonly account: Hex;
  readonly gas: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

interface BundledCall {
  readonly target: Hex;
  readonly allowFailure: boolean;
  readonly callData: Hex;
}

async function aggregate(calls: readonly BundledCall[]): Promise<TreasuryCall> {
  const { encodeFunctionData, multicall3Abi } = await import("viem");
  return {
    to: MULTICALL3,
    data: encodeFunctionData({ abi: multicall3Abi, functionName: "aggregate3", args: [calls] }),
  };
}

/** The EIP-712 hash of the authorization. */
function toDigest(authorization: Eip3009["authorization"], offer: PaymentRequirements): Promise<Hex> {
  const { name, version } = offer.extra as { name: string; version: string }; // From the rail's EIP-712 domain.
  const chainId = Number(offer.network.slice("eip155:".length));
  return toAuthorizationDigest(authorization, { name, version, chainId, verifyingContract: offer.asset as Hex });
}
