import { createPublicKey, type KeyObject, sign } from "node:crypto";
import type { Clock } from "../../api/capabilities.ts";
import { sha256 } from "../digest.ts";

/** A key as an agent card publishes it. `retired` still says whose old signatures are; it vouches for nothing new. */
export interface PublishedKey {
  readonly key_id: string;
  /** SubjectPublicKeyInfo. */
  readonly public_key_der_base64: string;
  readonly status: "active" | "retired";
}

/** Who we are to other agents: an Ed25519 key, and those that came before it or come after. Never the treasury's. */
export interface Identity {
  /** The key that signs now first. */
  keys(): readonly PublishedKey[];
  /** The key that signs now. */
  signer(): IdentitySigner;
}

export interface IdentitySigner {
  readonly keyId: string;
  /** Plain Ed25519 over the UTF-8 text. */
  sign(text: string): Buffer;
}

/** A key of one's own. */
export interface IdentityKey {
  /** Left out: the key's RFC 7638 thumbprint, which is the same on every machine. */
  readonly keyId?: string;
  readonly privateKey: KeyObject;
  /** Unix seconds from which on it signs; it is published before. Infinity: published, and never signs. */
  readonly signsFrom: number;
}

/** A key that another has replaced stays active for as long as what it signed can be acted upon: a day, and an hour of caching. */
const OVERLAP_SECONDS = 90_000;

/**
 * An identity of at least one key. The newest whose time has come signs; those after it are published already, so that
 * peers who keep our card for an hour know them in time, and those before it stay active until nothing depends on them.
 */
export function createIdentity(keys: readonly IdentityKey[], clock: Clock): Identity {
  const known = keys.map(toKnown).sort((a, b) => a.signsFrom - b.signsFrom);
  const current = (): number => {
    const now = clock.now() / 1000;
    return Math.max(
      0,
      known.findLastIndex(({ signsFrom }) => signsFrom <= now),
    );
  };
  return {
    keys() {
      const now = clock.now() / 1000;
      const at = current();
      const order = [at, ...[...known.keys()].filter((index) => index !== at)];
      return order.map((index) => {
        const { keyId, der } = known[index]!;
        const replacedAt = known[index + 1]?.signsFrom ?? Number.POSITIVE_INFINITY;
        const isOver = index < at && now - replacedAt > OVERLAP_SECONDS;
        return { key_id: keyId, public_key_der_base64: der, status: isOver ? "retired" : "active" };
      });
    },
    signer() {
      const { keyId, privateKey } = known[current()]!;
      return { keyId, sign: (text) => sign(null, Buffer.from(text), privateKey) };
    },
  };
}

/** The public half in the form in which cards publish it (SPKI DER, base64). */
export const toPublicDer = (privateKey: KeyObject): string =>
  createPublicKey(privateKey).export({ format: "der", type: "spki" }).toString("base64");

function toKnown({ keyId, privateKey, signsFrom }: IdentityKey) {
  const { crv, kty, x } = createPublicKey(privateKey).export({ format: "jwk" });
  const thumbprint = Buffer.from(sha256(JSON.stringify({ crv, kty, x })), "hex").toString("base64url");
  return { keyId: keyId ?? thumbprint, privateKey, signsFrom, der: toPublicDer(privateKey) };
}
