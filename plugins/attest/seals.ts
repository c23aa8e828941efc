import { type Evm, Problem, type Treasury } from "#plugin";
import { inspect } from "./signatures.ts";
import type { Claim } from "./statement.ts";

/** The receipt's fields about its signature (specification 2.3). */
export interface Seal {
  readonly signer: string;
  readonly signed_by: "caller" | "treasury";
  readonly scheme: "eip191" | "ed25519";
  readonly signature: string;
  readonly signer_pubkey: string | null;
}

/** The caller's own signature, verified. @throws Problem `signature-invalid`, `upstream-failed`. */
export async function toCallersSeal(claim: Claim, message: string, evm: Evm, signal: AbortSignal): Promise<Seal> {
  const { valid, signer } = await inspect(claim, message, evm, signal);
  if (!valid || signer === undefined)
    throw new Problem("signature-invalid", "The signature does not verify over the text in `message`", {
      members: { message },
    });
  const scheme = claim.scheme ?? "eip191";
  const signer_pubkey = scheme === "ed25519" ? signer : null;
  return { signer, signed_by: "caller", scheme, signature: claim.signature ?? "", signer_pubkey };
}

/** The hosted signer: the treasury's EIP-191 signature in the caller's place. */
export async function toTreasurysSeal(message: string, treasury: Treasury): Promise<Seal> {
  const [signer, signature] = await Promise.all([treasury.evmAddress(), treasury.signMessage(message)]);
  return { signer, signed_by: "treasury", scheme: "eip191", signature, signer_pubkey: null };
}
