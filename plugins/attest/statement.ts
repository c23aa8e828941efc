import { createHash } from "node:crypto";
import { Problem, toValueError, type ValidationIssue } from "#plugin";

/** What is attested: 64 hex characters twice, and a label. */
export interface Statement {
  readonly input_hash: string;
  readonly output_hash: string;
  readonly decision: string;
}

/** The text that is signed. The hashes have one length, so that no decision, not even one of several lines, can imitate another statement. */
export const toMessage = (siteName: string, { input_hash, output_hash, decision }: Statement): string =>
  [
    `${siteName}/attest/v1`,
    `input=${input_hash.toLowerCase()}`,
    `output=${output_hash.toLowerCase()}`,
    `decision=${decision}`,
  ].join("\n");

/** What is anchored: SHA-256 of the message's UTF-8 bytes, 64 hex characters. */
export const toRoot = (message: string): string => createHash("sha256").update(message, "utf8").digest("hex");

/** A signature as it arrives: nothing of it is trusted yet. */
export interface Claim {
  readonly scheme?: "eip191" | "ed25519" | null | undefined;
  readonly signature?: string | null | undefined;
  readonly signer_pubkey?: string | null | undefined;
  readonly signer?: string | null | undefined;
}

/** Whether the caller signed; otherwise the treasury is asked to. */
export const isSigned = ({ signature }: Claim): boolean => (signature ?? null) !== null;

/** The rules between the fields. @throws Problem `invalid-input` with all faults. */
export function checkClaim(input: Statement & Claim): void {
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
