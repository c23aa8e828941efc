import { createPrivateKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { PKCS8_ED25519 } from "../treasury-keys.ts";

const HEX = /^[0-9a-f]{64}$/i;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** A new Ed25519 key. */
export const generateIdentityKey = (): KeyObject => generateKeyPairSync("ed25519").privateKey;

/** The stored form of a key: PKCS #8 DER in base64. */
export const toKeyText = (key: KeyObject): string => key.export({ format: "der", type: "pkcs8" }).toString("base64");

/**
 * Ed25519 private keys, separated by commas: the first signs, all are published. Each is PKCS #8 DER in base64, or a
 * seed of 32 bytes in hex or base64. @throws RangeError with the reason, which does not repeat the text.
 */
export function parseIdentityKeys(text: string): readonly KeyObject[] {
  const keys = text.split(",").map((part) => parseIdentityKey(part.trim()));
  const texts = new Set(keys.map(toKeyText));
  if (texts.size < keys.length) throw new RangeError("One of these keys stands there twice");
  return keys;
}

function parseIdentityKey(text: string): KeyObject {
  const bytes = HEX.test(text) ? Buffer.from(text, "hex") : BASE64.test(text) ? Buffer.from(text, "base64") : undefined;
  if (!bytes) throw new RangeError("An identity key is base64 or hex; this is neither");
  const der = bytes.length === 32 ? Buffer.concat([PKCS8_ED25519, bytes]) : bytes;
  try {
    const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
    if (key.asymmetricKeyType === "ed25519") return key;
  } catch {
    // Reported below, like a key of another kind.
  }
  throw new RangeError(
    `An identity key is an Ed25519 key in PKCS #8, or 32 bytes; this is ${bytes.length} bytes of something else`,
  );
}
