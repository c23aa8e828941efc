import { createPublicKey, verify } from "node:crypto";

/** The DER prefix of an Ed25519 public key (RFC 8410, section 4). */
const DER = Buffer.from("302a300506032b6570032100", "hex");

/** Whether a signature of 64 bytes over a message is that of a key of 32 bytes. */
export function isEd25519(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const publicKey = createPublicKey({ key: Buffer.concat([DER, key]), format: "der", type: "spki" });
  return verify(null, message, publicKey, signature);
}
