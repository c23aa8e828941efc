import type { Hex } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import type { EvmClient } from "./client.ts";
import { ERC1271_ABI, ERC1271_MAGIC_VALUE } from "./erc1271.ts";

/** How long a wallet's contract may take to answer. */
const CALL_MS = 5000;
/** The most gas that a wallet's contract may use in the node's simulation. */
const CALL_GAS = 1_000_000n;

/** The addresses of a chain's precompiled contracts: nobody's wallets. Some fail at any call as if the node had failed. */
const PRECOMPILED = /^0x0{36}/;

/**
 * Whether the contract at an address accepts a signature of a hash (ERC-1271). Some wallets wrap their
 * signatures (ERC-6492) even after their deployment: the contract is asked about the signature within.
 * @throws Problem `upstream-failed` when the chain cannot be asked.
 */
export async function isContractSignature(
  { ask, name }: EvmClient,
  { address, hash, signature }: { readonly address: Hex; readonly hash: Hex; readonly signature: Hex },
): Promise<boolean> {
  if (PRECOMPILED.test(address)) return false;
  const { BaseError, isErc6492Signature, parseErc6492Signature } = await import("viem");
  let inner = signature;
  try {
    if (isErc6492Signature(signature)) inner = parseErc6492Signature(signature).signature;
  } catch {
    return false; // It has the ending of an ERC-6492 signature, and not its beginning.
  }
  const args = [hash, inner] as const;
  const call = { address, abi: ERC1271_ABI, functionName: "isValidSignature", args, gas: CALL_GAS } as const;
  return ask((chain) => chain.readContract(call), AbortSignal.timeout(CALL_MS)).then(
    (answer) => answer === ERC1271_MAGIC_VALUE,
    (error: unknown) => {
      if (error instanceof BaseError) return false; // The contract reverted, or there is no contract.
      if (error instanceof Problem) throw error;
      throw new Problem("upstream-failed", `The ${name} chain did not answer in time`, { cause: error });
    },
  );
}
