import { createPrivateKey, type KeyObject } from "node:crypto";
import { type Envelope, type PeerMethod, sealEnvelope } from "../../../../../runtime/core/peers/envelope.ts";
import { createIdentity, type Identity, toPublicDer } from "../../../../../runtime/core/peers/identity.ts";
import { type PeerKeys, readCardKeys, toPeerKey } from "../../../../../runtime/core/peers/keys.ts";

/** Another agent, with a key that its card publishes. */
export interface Peer {
  readonly origin: string;
  readonly keyId: string;
  readonly identity: Identity;
  /** What stands at its well-known place. */
  readonly card: object;
  /** A signed request. `fields` replace what is signed, `after` what is sent. */
  seal(method: PeerMethod, change?: Sealing): Message;
}

export interface Sealing {
  readonly body?: unknown;
  readonly fields?: Partial<Pick<Envelope, "aud" | "origin" | "nonce" | "exp">>;
  readonly after?: object;
}

export interface Message {
  readonly jsonrpc: "2.0";
  readonly id: string;
  readonly method: string;
  readonly params: Record<string, unknown>;
}

export function toKey(seedHex: string): KeyObject {
  const key = Buffer.from(`302e020100300506032b657004220420${seedHex}`, "hex");
  const read = (): KeyObject => createPrivateKey({ key, format: "der", type: "pkcs8" });
  try {
    return read();
  } catch {
    return read(); // OpenSSL tells once of an earlier call's error, which other tests in this process have left.
  }
}

/** An identity of one key with a name of its own. */
export const toIdentity = (seedHex: string, keyId: string): Identity =>
  createIdentity([{ keyId, privateKey: toKey(seedHex), signsFrom: 0 }], { now: Date.now });

let nonces = 0;

export function createPeer(
  aud: string,
  { origin = "https://peer.example", seed = "00".repeat(32), now = Date.now } = {},
): Peer {
  const keyId = "peer-2026-01";
  const identity = toIdentity(seed, keyId);
  const key = { key_id: keyId, public_key_der_base64: toPublicDer(toKey(seed)) };
  return {
    origin,
    keyId,
    identity,
    card: { name: "peer", extensions: { "peer:a2a": { keys: [{ ...key, status: "active" }] } } },
    seal(method, { body = null, fields = {}, after = {} } = {}) {
      const exp = Math.floor(now() / 1000) + 120;
      nonces += 1;
      const signed = { aud, origin, nonce: `nonce-${nonces}-${process.pid}`, exp, body, ...fields };
      const params = { ...sealEnvelope(method, signed, identity.signer()), ...after };
      return { jsonrpc: "2.0", id: "1", method, params };
    },
  };
}

/** The keys in these cards, by origin; nothing is fetched. */
export function toPeerKeys(cards: Readonly<Record<string, object>>): PeerKeys {
  return {
    async find(peer) {
      const card = cards[peer.origin];
      return card ? toPeerKey(readCardKeys(card), peer) : { kind: "refused", reason: "No card there" };
    },
  };
}
