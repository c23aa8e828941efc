import type { Client } from "viem";
import { type Hex, Problem } from "#plugin";

/** The Universal Resolver, the same before and after ENSv2 (ENSIP-23). */
const universalResolverAddress = "0xeEeEEEeE14D718C2B47D9923Deab1335E144EeEe";
/** Solana's coin type (SLIP-44). */
const SOLANA = 501n;
/** The Universal Resolver's error when the name's own resolver reverts. */
const REFUSED = "ResolverError";
/** The Universal Resolver's errors that mean "no such record". All others are failures. */
const NO_RECORD = new Set([
  REFUSED,
  "ResolverNotContract",
  "ResolverNotFound",
  "ReverseAddressMismatch",
  "UnsupportedResolverProfile",
]);

/** The name's Ethereum address, EIP-55. */
export async function readEthereumAddress(client: Client, name: string): Promise<Hex | undefined> {
  const { getEnsAddress } = await import("viem/ens");
  return orNoRecord(client, (asked) => getEnsAddress(asked, { name, universalResolverAddress, strict: true }));
}

/** The name's Solana public key (ENSIP-9): 32 bytes in hex. */
export async function readSolanaKey(client: Client, name: string): Promise<Hex | undefined> {
  const { getEnsAddress } = await import("viem/ens");
  const ask = { name, coinType: SOLANA, universalResolverAddress, strict: true } as const;
  const record = await orNoRecord(client, (asked) => getEnsAddress(asked, ask));
  return record?.length === 66 ? record : undefined;
}

/** The primary name of an Ethereum address. The Universal Resolver has checked that the name resolves to the address. */
export async function readPrimaryName(client: Client, address: Hex): Promise<string | undefined> {
  const { getEnsName } = await import("viem/ens");
  return orNoRecord(client, (asked) => getEnsName(asked, { address, universalResolverAddress, strict: true }));
}

/** The name's resolver; the zero address when it has none. */
export async function findResolver(client: Client, name: string): Promise<Hex> {
  const { getEnsResolver } = await import("viem/ens");
  return getEnsResolver(client, { name, universalResolverAddress });
}

/**
 * Undefined for no record. A resolver that refuses what its gateway has answered, such as an old signature, says nothing
 * about the record. @throws Problem `upstream-failed` then.
 */
async function orNoRecord<T>(client: Client, read: (asked: Client) => Promise<T | null>): Promise<T | undefined> {
  let isAnswered = false;
  const { request } = client.ccipRead || {};
  const noted: typeof request = async (lookup) => {
    const answer = await request?.(lookup);
    isAnswered = true;
    return answer as Hex;
  };
  try {
    return (await read({ ...client, ...(request && { ccipRead: { request: noted } }) })) ?? undefined;
  } catch (error) {
    const { BaseError, ContractFunctionRevertedError } = await import("viem");
    const refusal = error instanceof BaseError && error.walk((cause) => cause instanceof ContractFunctionRevertedError);
    const name = refusal instanceof ContractFunctionRevertedError ? refusal.data?.errorName : undefined;
    if (name === REFUSED && isAnswered) throw toRefusedAnswer(error);
    if (name !== undefined && NO_RECORD.has(name)) return undefined;
    throw error;
  }
}

const toRefusedAnswer = (cause: unknown): Problem =>
  new Problem("upstream-failed", "The gateway that the name's owner has chosen gave an answer that the name refuses", {
    cause,
  });
