import { createHash } from "node:crypto";
import { type Plugins, Problem, toValueError, type ValidationIssue } from "#plugin";

/** A decision with the signature that a caller sent, not yet verified (schemas/AttestRequest.json). */
export type Claim = Plugins["attest"]["attest"]["input"];

/** The text to sign. The hashes have a fixed length, so a decision with line breaks cannot imitate another message. */
export const toMessage = (siteName: string, { input_hash, output_hash, decision }: Claim): string =>
  [
    `${siteName}/attest/v1`,
    `input=${input_hash.toLowerCase()}`,
    `output=${output_hash.toLowerCase()}`,
    `decision=${decision}`,
  ].join("\n");

/** The hash to anchor: SHA-256 of the message's UTF-8 bytes, 64 hex characters. */
export const toMerkleRoot = (message: string): string => createHash("sha256").update(message, "utf8").digest("hex");

/** True when the caller sent a signature; otherwise the treasury signs. */
export const isSigned = ({ signature }: Claim): boolean => (signature ?? null) !== null;

/** Checks the rules that the JSON Schema cannot express. @throws Problem `invalid-input` with all faults. */
export function checkClaim(input: Claim): void {
  const { decision, scheme, signer_pubkey } = input;
  const issues: ValidationIssue[] = [];
  if (!decision.isWellFormed())
    issues.push(toValueError("decision must be well-formed Unicode: it holds a lone surrogate", decision, "decision"));
  if (isSigned(input) && !scheme)
    issues.push(toValueError("scheme is required with a signature: eip191 or ed25519", scheme, "scheme"));
  if (isSigned(input) && scheme === "ed25519" && (signer_pubkey ?? null) === null)
    issues.push(
      toValueError("signer_pubkey is required for ed25519: the Solana public key", signer_pubkey, "signer_pubkey"),
    );
  if (issues.length > 0) throw new Problem("invalid-input", undefined, { issues });
}
