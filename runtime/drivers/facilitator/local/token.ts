import type { PublicClient } from "viem";
import type { Hex } from "../../../api/capabilities.ts";
import { Problem } from "../../../api/problem.ts";
import type { EvmClient } from "../../evm/client.ts";

/** The configuration of a token; `name` and `version` are those of its EIP-712 domain. */
export interface TokenFacts {
  readonly asset: string;
  readonly name: string;
  readonly version: string;
  readonly decimals: number;
}

const text = [{ name: "", type: "string" }] as const;
const view = { type: "function", stateMutability: "view", inputs: [] } as const;
const ABI = [
  { ...view, name: "name", outputs: text },
  { ...view, name: "decimals", outputs: [{ name: "", type: "uint8" }] },
  { ...view, name: "DOMAIN_SEPARATOR", outputs: [{ name: "", type: "bytes32" }] },
] as const;

/**
 * Compares a token on its chain with its configuration: returns a sentence that names the difference, or undefined.
 * Payers sign for the configured domain; if the token's domain differs, no payment can settle.
 * @throws Problem `upstream-failed` when the chain cannot be asked.
 */
export async function checkToken(
  client: EvmClient,
  { asset, name, version, decimals }: TokenFacts,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const where = `The token ${asset} on ${client.name}`;
  const facts = await client
    .ask((chain) => readFacts(chain, asset as Hex), signal)
    .catch((error: unknown) => {
      if (error instanceof Problem || signal?.aborted) throw error;
      return undefined;
    });
  if (!facts) return `${where} does not answer as a token with EIP-712 signatures does; check its address`;
  if (facts.name !== name) return `${where} is named "${facts.name}", but the configuration says "${name}"`;
  if (facts.decimals !== decimals)
    return `${where} has ${facts.decimals} decimals, but the configuration says ${decimals}`;
  const { domainSeparator } = await import("viem");
  const domain = { name, version, chainId: client.chainId, verifyingContract: asset as Hex };
  if (facts.separator === domainSeparator({ domain })) return undefined;
  return `${where} does not sign for the EIP-712 domain "${name}", version "${version}", on chain ${client.chainId}; check its version`;
}

interface ActualFacts {
  readonly name: string;
  readonly decimals: number;
  readonly separator: Hex;
}

async function readFacts(chain: PublicClient, address: Hex): Promise<ActualFacts> {
  const [name, decimals, separator] = await Promise.all([
    chain.readContract({ address, abi: ABI, functionName: "name" }),
    chain.readContract({ address, abi: ABI, functionName: "decimals" }),
    chain
      .readContract({ address, abi: ABI, functionName: "DOMAIN_SEPARATOR" })
      .catch(() => readSeparator(chain, address)),
  ]);
  return { name, decimals, separator };
}

/** The domain separator of a token that describes its domain (EIP-5267) instead of returning its hash. */
async function readSeparator(chain: PublicClient, address: Hex): Promise<Hex> {
  const { domainSeparator } = await import("viem");
  const { domain } = await chain.getEip712Domain({ address });
  return domainSeparator({ domain });
}
