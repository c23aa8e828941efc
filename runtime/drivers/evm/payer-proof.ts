import type { Hex } from "../../api/capabilities.ts";
import { type Eip3009, readEip3009 } from "../../core/x402/eip3009.ts";
import type { ProvePayer } from "../../core/x402/rails.ts";
import type { EvmClient } from "./client.ts";
import { isContractSignature } from "./contract-signature.ts";

/** The EIP-712 domain of the payment's token. */
export interface TokenDomain {
  readonly name: string;
  readonly version: string;
  readonly chainId: number;
  readonly verifyingContract: Hex;
}

/** The EIP-712 hash of an authorization. */
export async function toAuthorizationDigest(
  authorization: Eip3009["authorization"],
  domain: TokenDomain,
): Promise<Hex> {
  const [{ hashTypedData }, { authorizationTypes }] = await Promise.all([import("viem"), import("@x402/evm")]);
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const times = { validAfter: BigInt(validAfter), validBefore: BigInt(validBefore) };
  return hashTypedData({
    domain,
    types: authorizationTypes,
    primaryType: "TransferWithAuthorization",
    message: { from, to, value: BigInt(value), ...times, nonce },
  });
}

/** Verifies payers by the signature of their key, or of their deployed contract (ERC-1271). */
export function createPayerProof(client: EvmClient, domain: TokenDomain): ProvePayer {
  return async (payload) => {
    const payment = readEip3009(payload);
    if (!payment) return undefined;
    const { signature, authorization } = payment;
    const address = authorization.from;
    const [{ recoverAddress }, hash] = await Promise.all([
      import("viem"),
      toAuthorizationDigest(authorization, domain),
    ]);
    const signer = await recoverAddress({ hash, signature }).catch(() => undefined); // Not a key's signature.
    if (signer?.toLowerCase() === address.toLowerCase()) return "key";
    return (await isContractSignature(client, { address, hash, signature })) ? "contract" : undefined;
  };
}
