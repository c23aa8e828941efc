import { createPublicKey, type KeyObject, sign } from "node:crypto";
import type { Clock } from "../../api/capabilities.ts";
import { sha256 } from "../digest.ts";

/** A key as published in an agent card. A `retired` key identifies old signatures and makes no new ones. */
export interface PublishedKey {
  readonly key_id: string;
  /** SubjectPublicKeyInfo. */
  readonly public_key_der_base64: string;
  readonly status: "active" | "retired";
}

/** The server's Ed25519 keys for other agents, including former and future keys. Never the treasury's key. */
export interface Identity {
  /** All published keys, the current one first. */
  keys(): readonly PublishedKey[];
  /** The current key. */
  signer(): IdentitySigner;
}

/** Signs with one key of the identity. */
export interface IdentitySigner {
  readonly keyId: string;
  /** Plain Ed25519 over the UTF-8 text. */
  sign(text: string): Buffer;
}

export interface IdentityKey {
  /** By default the key's RFC 7638 thumbprint, which is the same on every machine. */
  readonly keyId?: string;
  readonly privateKey: KeyObject;
  /** Unix seconds from which the key signs; it is published earlier. Infinity: it is published but never signs. */
  readonly signsFrom: number;
}

/** How long a replaced key stays active: a day, in which a quote can be used, and an hour for caches. */
const OVERLAP_SECONDS = 90_000;

/**
 * An identity of at least one key. The newest key whose `signsFrom` has passed signs. Later keys are published early,
 * since peers cache the card for an hour; earlier keys stay active for `OVERLAP_SECONDS`.
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
        const isOver = now - replacedAt > OVERLAP_SECONDS;
        return { key_id: keyId, public_key_der_base64: der, status: isOver ? "retired" : "active" };
      });
    },
    signer() {
      const { keyId, privateKey } = known[current()]!;
      return { keyId, sign: (text) => sign(null, Buffer.from(text), privateKey) };
    },
  };
}

/** The public key as cards publish it: SPKI DER in base64. */
export const toPublicDer = (privateKey: KeyObject): string =>
  createPublicKey(privateKey).export({ format: "der", type: "spki" }).toString("base64");

function toKnown({ keyId, privateKey, signsFrom }: IdentityKey) {
  const { crv, kty, x } = createPublicKey(privateKey).export({ format: "jwk" });
  const thumbprint = Buffer.from(sha256(JSON.stringify({ crv, kty, x })), "hex").toString("base64url");
  return { keyId: keyId ?? thumbprint, privateKey, signsFrom, der: toPublicDer(privateKey) };
}
