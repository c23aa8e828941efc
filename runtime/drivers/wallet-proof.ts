import { base58 } from "@scure/base";
import type { Hex } from "../api/capabilities.ts";
import { Problem } from "../api/problem.ts";
import { EVM_ADDRESS } from "../core/account.ts";
import { secondsUntil } from "../core/limiter.ts";
import type { ProveWallet } from "../core/wallets/sign-in.ts";
import { isHex, LONGEST_SIGNATURE } from "../core/x402/eip3009.ts";
import { isEd25519 } from "./ed25519.ts";
import type { EvmClient } from "./evm/client.ts";
import { isContractSignature } from "./evm/contract-signature.ts";
import { createMemoryLimiter } from "./memory-limiter.ts";

/**
 * How many signatures of contracts are checked in a minute. Anybody can send one for nothing, and each check asks the
 * node that payments need, too.
 */
const CONTRACTS = { budget: "contract-proofs", points: 240, seconds: 60 } as const;

/**
 * Verifies wallets' proofs: EIP-191 signatures of keys, ERC-1271 of deployed contracts, and Ed25519 on Solana.
 * @param chains the EVM chains by CAIP-2 name
 */
export function createWalletProof(chains: ReadonlyMap<string, EvmClient>): ProveWallet {
  const contracts = createMemoryLimiter(CONTRACTS);

  async function count(): Promise<void> {
    await contracts.consume("all").catch((refusal: unknown) => {
      const retryAfter = secondsUntil(refusal, CONTRACTS);
      throw new Problem("rate-limited", `Too many contracts sign in; try again in ${retryAfter} s`, { retryAfter });
    });
  }

  return async ({ network, address, message, signature }) => {
    if (signature.length > LONGEST_SIGNATURE) return undefined;
    if (!network.startsWith("eip155:")) return isSolana(address, message, signature) ? "key" : undefined;
    if (!EVM_ADDRESS.test(address) || !isHex(signature)) return undefined;
    const { getAddress } = await import("viem");
    // EIP-4361 wants the address with its checksum: x402's library signs it so, however the wallet spells it.
    const texts = new Set([message, message.replace(address, getAddress(address.toLowerCase()))]);
    const own = { address: address.toLowerCase() as Hex, signature };
    const claims = [...texts].map((text) => ({ ...own, message: text }));
    if (await isAny(claims.map(isKey))) return "key";
    const chain = chains.get(network);
    if (!chain) return undefined;
    await count();
    return (await isAny(claims.map((claim) => isContract(chain, claim)))) ? "contract" : undefined;
  };
}

const isAny = async (verdicts: readonly Promise<boolean>[]): Promise<boolean> =>
  (await Promise.all(verdicts)).includes(true);

interface EvmClaim {
  readonly address: Hex;
  readonly message: string;
  readonly signature: Hex;
}

async function isKey({ address, message, signature }: EvmClaim): Promise<boolean> {
  const { recoverMessageAddress } = await import("viem");
  const signer = await recoverMessageAddress({ message, signature }).catch(() => undefined); // Not a key's signature.
  return signer?.toLowerCase() === address;
}

async function isContract(chain: EvmClient, { address, message, signature }: EvmClaim): Promise<boolean> {
  const { hashMessage } = await import("viem");
  return isContractSignature(chain, { address, hash: hashMessage(message), signature });
}

function isSolana(address: string, message: string, signature: string): boolean {
  const [key, signed] = [address, signature].map(fromBase58);
  if (key?.length !== 32 || signed?.length !== 64) return false;
  return isEd25519(key, Buffer.from(message), signed);
}

function fromBase58(text: string): Uint8Array | undefined {
  try {
    return text.length <= 128 ? base58.decode(text) : undefined;
  } catch {
    return undefined; // The only error is "not base58".
  }
}
