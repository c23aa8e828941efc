import { type Evm, type Plugins, Problem, type Treasury } from "#plugin";
import { inspect } from "./signatures.ts";
import type { Claim } from "./statement.ts";

/** The signature fields of a receipt. */
export type ReceiptSignature = Pick<
  Plugins["attest"]["attest"]["output"],
  "signer" | "signed_by" | "scheme" | "signature" | "signer_pubkey"
>;

/** Verifies the caller's signature. @throws Problem `signature-invalid`, `upstream-failed`. */
export async function toCallerSignature(
  claim: Claim,
  message: string,
  evm: Evm,
  signal: AbortSignal,
): Promise<ReceiptSignature> {
  const { valid, signer } = await inspect(claim, message, evm, signal);
  if (!valid || signer === undefined) {
    const fault = (claim.signer ?? null) === null ? "does not verify" : `is not ${claim.signer}'s`;
    throw new Problem("signature-invalid", `The signature over the text in \`message\` ${fault}`, {
      members: { message },
    });
  }
  const scheme = claim.scheme ?? "eip191";
  const signer_pubkey = scheme === "ed25519" ? signer : null;
  return { signer, signed_by: "caller", scheme, signature: claim.signature ?? "", signer_pubkey };
}

/** Signs with the treasury (EIP-191) when the caller sent no signature. */
export async function toTreasurySignature(message: string, treasury: Treasury): Promise<ReceiptSignature> {
  const [signer, signature] = await Promise.all([treasury.evmAddress(), treasury.signMessage(message)]);
  return { signer, signed_by: "treasury", scheme: "eip191", signature, signer_pubkey: null };
}
