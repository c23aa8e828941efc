import { createPublicKey, type KeyObject } from "node:crypto";
import { isObject, type JsonObject } from "../json.ts";

/** A peer's key, or why there is none; `reason` is a sentence for the peer. */
export type PeerKeyAnswer =
  | { readonly kind: "key"; readonly key: KeyObject }
  | { readonly kind: "refused"; readonly reason: string }
  /** Too many cards were fetched; `retryAfter` is in seconds. */
  | { readonly kind: "busy"; readonly retryAfter: number };

/** The keys that peers publish in their agent cards. */
export interface PeerKeys {
  /** @param client the address of the request: each address may cause a limited number of card fetches. */
  find(peer: { readonly origin: string; readonly keyId: string }, client: string): Promise<PeerKeyAnswer>;
}

/** A card's keys by id, as published. */
export type CardKeys = ReadonlyMap<string, readonly CardKey[]>;

interface CardKey {
  readonly der: unknown;
  readonly status: unknown;
}

/** The most keys that are read from one card. */
const MOST_KEYS = 100;
const LONGEST_ID = 64;
const LONGEST_DER = 256;

/**
 * The keys in an agent card. They are found in every block of `extensions` and in every `params` of
 * `capabilities.extensions`, as a list `keys` or as a single key.
 */
export function readCardKeys(card: unknown): CardKeys {
  const found = new Map<string, CardKey[]>();
  for (const entry of toBlocks(card).flatMap(toEntries).slice(0, MOST_KEYS)) {
    const { key_id: id, public_key_der_base64: der, status = "active" } = entry;
    if (typeof id !== "string" || id.length > LONGEST_ID) continue;
    const short = typeof der === "string" && der.length > LONGEST_DER ? undefined : der;
    found.set(id, [...(found.get(id) ?? []), { der: short, status: status === "active" ? status : "retired" }]);
  }
  return found;
}

/** One key of a card. It is refused when any block revokes it, or when two keys have its id. */
export function toPeerKey(keys: CardKeys, { origin, keyId }: { origin: string; keyId: string }): PeerKeyAnswer {
  const published = keys.get(keyId) ?? [];
  const refuse = (reason: string): PeerKeyAnswer => ({ kind: "refused", reason });
  if (published.length === 0) return refuse(`The agent card at ${origin} publishes no key "${keyId}"`);
  if (published.some(({ status }) => status !== "active"))
    return refuse(`The key "${keyId}" is published as not active`);
  const [first] = published as [CardKey];
  if (published.some(({ der }) => der !== first.der)) return refuse(`The card publishes two keys as "${keyId}"`);
  const key = typeof first.der === "string" ? readPublicKey(first.der) : undefined;
  return key ? { kind: "key", key } : refuse(`The key "${keyId}" is no Ed25519 public key (SPKI DER in base64)`);
}

function toBlocks(card: unknown): JsonObject[] {
  if (!isObject(card)) return [];
  const { extensions, capabilities } = card;
  const named = isObject(extensions) ? Object.values(extensions) : [];
  const declared = isObject(capabilities) && Array.isArray(capabilities.extensions) ? capabilities.extensions : [];
  return [...named, ...declared.map((extension) => (isObject(extension) ? extension.params : undefined))].filter(
    isObject,
  );
}

const toEntries = (block: JsonObject): JsonObject[] =>
  Array.isArray(block.keys) ? block.keys.filter(isObject) : [block];

function readPublicKey(base64: string): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: Buffer.from(base64, "base64"), format: "der", type: "spki" });
    return key.asymmetricKeyType === "ed25519" ? key : undefined;
  } catch {
    return undefined; // The caller reports what was expected.
  }
}
