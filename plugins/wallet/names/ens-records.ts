import type { Client } from "viem";
import type { Hex } from "#plugin";

/** ENS' entrance, the same before and after ENSv2 (ENSIP-23). */
const universalResolverAddress = "0xeEeEEEeE14D718C2B47D9923Deab1335E144EeEe";
/** SLIP-44. */
const SOLANA = 501n;
/** The Universal Resolver's ways of saying that there is no such record. All others are failures. */
const NO_RECORD = new Set([
  "ResolverError",
  "ResolverNotContract",
  "ResolverNotFound",
  "ReverseAddressMismatch",
  "UnsupportedResolverProfile",
]);

/** Where a name leads on Ethereum, EIP-55 checksummed. */
export async function readAddress(client: Client, name: string): Promise<Hex | undefined> {
  const { getEnsAddress } = await import("viem/ens");
  return orNoRecord(getEnsAddress(client, { name, universalResolverAddress, strict: true }));
}

/** Where a name leads on Solana (ENSIP-9): the 32 bytes of a public key, in hex. */
export async function readSolanaKey(client: Client, name: string): Promise<Hex | undefined> {
  const { getEnsAddress } = await import("viem/ens");
  const ask = { name, coinType: SOLANA, universalResolverAddress, strict: true } as const;
  const record = await orNoRecord(getEnsAddress(client, ask) as Promise<Hex | null>);
  return record?.length === 66 ? record : undefined;
}

/** The primary name of an Ethereum address, as its owner has set it; the resolver has seen that it leads back. */
export async function readPrimaryName(client: Client, address: Hex): Promise<string | undefined> {
  const { getEnsName } = await import("viem/ens");
  return orNoRecord(getEnsName(client, { address, universalResolverAddress, strict: true }));
}

/** The resolver that ENS asks for a name; the zero address when there is none. */
export async function findResolver(client: Client, name: string): Promise<Hex> {
  const { getEnsResolver } = await import("viem/ens");
  return getEnsResolver(client, { name, universalResolverAddress });
}

async function orNoRecord<T>(read: Promise<T | null>): Promise<T | undefined> {
  try {
    return (await read) ?? undefined;
  } catch (error) {
    const { BaseError, ContractFunctionRevertedError } = await import("viem");
    const refusal = error instanceof BaseError && error.walk((cause) => cause instanceof ContractFunctionRevertedError);
    const name = refusal instanceof ContractFunctionRevertedError ? refusal.data?.errorName : undefined;
    if (name !== undefined && NO_RECORD.has(name)) return undefined;
    throw error;
  }
}
