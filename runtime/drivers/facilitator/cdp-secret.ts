import { createPrivateKey, type KeyObject } from "node:crypto";

/**
 * The private key in the secret of a CDP API key: an EC key (P-256) as PEM, or an Ed25519 key as the base64 of its seed and
 * its public key (64 bytes). @throws RangeError that says what is wrong without repeating the text.
 */
export function parseCdpSecret(secret: string): KeyObject {
  const key = tryParse(secret);
  if (key?.asymmetricKeyType === "ed25519" || key?.asymmetricKeyDetails?.namedCurve === "prime256v1") return key;
  const lines = secret.includes("\\n") ? ": its line breaks must be real ones, not \\n" : "";
  throw new RangeError(
    `This is no key that can sign, neither 64 bytes in base64 nor the PEM text of an EC key${lines}`,
  );
}

function tryParse(secret: string): KeyObject | undefined {
  const bytes = Buffer.from(secret, "base64");
  try {
    if (bytes.length !== 64) return createPrivateKey(secret);
    const d = bytes.subarray(0, 32).toString("base64url");
    const x = bytes.subarray(32).toString("base64url");
    return createPrivateKey({ key: { kty: "OKP", crv: "Ed25519", d, x }, format: "jwk" });
  } catch {
    return undefined;
  }
}
