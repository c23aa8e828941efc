import { createPublicKey, verify } from "node:crypto";
import { base58 } from "@scure/base";
import type { Evm, Hex } from "#plugin";
import type { Claim } from "./statement.ts";

export interface SignatureCheck {
  /** The signature verifies, and belongs to the named signer if the claim names one. */
  readonly valid: boolean;
  /** The signer's address or public key; undefined when it cannot be recovered. */
  readonly signer: string | undefined;
}

/** DER prefix that turns a raw Ed25519 public key into SPKI (RFC 8410). */
const ED25519_SPKI = Buffer.from("302a300506032b6570032100", "hex");

const BASE58_64_BYTES = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/;
const BASE58_32_BYTES = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
const HEX_65_BYTES = /^0x[0-9a-fA-F]{130}$/;
const HEX_BYTES = /^0x(?:[0-9a-fA-F]{2})+$/;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/** Checks a claimed signature over the message. A bad signature is a result, not an error. @throws Problem `upstream-failed`. */
export async function inspect(claim: Claim, message: string, evm: Evm, signal: AbortSignal): Promise<SignatureCheck> {
  const { scheme, signer_pubkey } = claim;
  const named = claim.signer ?? undefined;
  const signature = claim.signature ?? "";
  if (scheme === "ed25519") {
    const key = signer_pubkey ?? "";
    return { valid: isEd25519(message, signature, key) && (named ?? key) === key, signer: key };
  }
  const recovered = await recover(message, signature);
  if (named === undefined || named.toLowerCase() === recovered?.toLowerCase())
    return { valid: recovered !== undefined, signer: recovered };
  if (ADDRESS.test(named) && HEX_BYTES.test(signature)) {
    const isAccounts = await evm.verifyMessage(named as Hex, message, signature as Hex, signal);
    if (isAccounts) return { valid: true, signer: await toChecksum(named) };
  }
  return { valid: false, signer: recovered };
}

/** An EVM address in EIP-55 spelling. */
export async function toChecksum(address: string): Promise<string> {
  const { getAddress } = await import("viem/utils");
  return getAddress(address);
}

/** The EIP-55 address that signed the EIP-191 text. The form is checked first, so every error of the library means a bad signature. */
async function recover(message: string, signature: string): Promise<string | undefined> {
  if (!HEX_65_BYTES.test(signature)) return undefined;
  const { recoverMessageAddress } = await import("viem/utils");
  return recoverMessageAddress({ message, signature: signature as Hex }).catch(() => undefined);
}

/** The length is checked first: decoding base58 takes quadratic time. */
function isEd25519(message: string, signature: string, key: string): boolean {
  if (!BASE58_64_BYTES.test(signature) || !BASE58_32_BYTES.test(key)) return false;
  const [signatureBytes, keyBytes] = [base58.decode(signature), base58.decode(key)];
  if (signatureBytes.length !== 64 || keyBytes.length !== 32) return false;
  const publicKey = createPublicKey({ key: Buffer.concat([ED25519_SPKI, keyBytes]), format: "der", type: "spki" });
  return verify(null, Buffer.from(message, "utf8"), publicKey, signatureBytes);
}
