import type { KeyObject } from "node:crypto";
import { join } from "node:path";
import type { Clock } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { tryParseJson } from "../../core/json.ts";
import { createIdentity, type Identity } from "../../core/peers/identity.ts";
import type { Store } from "../../core/store.ts";
import { createIdentityFile, type IdentityRecord, type IdentityShelf } from "./identity-file.ts";
import { generateIdentityKey, parseIdentityKeys, toKeyText } from "./identity-keys.ts";

export interface IdentityOptions {
  /** The operator's own keys (`A2A_IDENTITY_KEY`): the first signs, and nothing is stored. */
  readonly keys?: readonly KeyObject[] | undefined;
  /** The folder of `a2a-identity.json`. */
  readonly dataDir: string;
  /** Set when several machines share the store: the identity is then kept in the store. */
  readonly store?: Pick<Store, "get" | "set" | "putIfAbsent"> | undefined;
  /** Whether an identity that does not exist is an error; by default it is made. */
  readonly mustExist?: boolean;
  readonly clock: Clock;
}

const STORE_KEY = "a2a:identity";
/** Peers cache our card for an hour; the second hour is for restarting every machine, so that it publishes the key. */
const NOTICE_SECONDS = 7200;

/**
 * Opens our identity among agents, which is created at the first start and kept.
 * @throws Problem `unavailable` when the record cannot be read or written: an identity is never silently replaced;
 *   `bad-request` when there must be one and is none.
 */
export async function openIdentity({ keys, clock, mustExist = false, ...place }: IdentityOptions): Promise<Identity> {
  if (keys) {
    const own = keys.map((privateKey, at) => ({ privateKey, signsFrom: at === 0 ? 0 : Number.POSITIVE_INFINITY }));
    return createIdentity(own, clock);
  }
  const shelf = toShelf(place);
  const { keys: kept } = await (mustExist ? readRecord(shelf) : readOrMake(shelf));
  const own = kept.map(({ private_key, signs_from }) => ({
    privateKey: parseKept(private_key, shelf),
    signsFrom: signs_from,
  }));
  return createIdentity(own, clock);
}

/**
 * Starts a key rotation: the new key is published from the next start on, and signs two hours from now, when all peers
 * have seen it. Returns that time in Unix seconds.
 * @throws Problem `bad-request` when the keys are the operator's own, when there is no identity, or when a rotation is
 *   under way.
 */
export async function rotateIdentity({ keys, clock, ...place }: IdentityOptions): Promise<number> {
  if (keys) {
    const how = 'put the new key behind the old one ("old,new"), two hours later before it ("new,old")';
    throw new Problem(
      "bad-request",
      `A2A_IDENTITY_KEY holds the identity: ${how}, and drop the old one a day after that`,
    );
  }
  const shelf = toShelf(place);
  const record = await readRecord(shelf);
  const now = Math.floor(clock.now() / 1000);
  if (record.keys.some(({ signs_from }) => signs_from > now))
    throw new Problem("bad-request", "A new key has been made and does not sign yet: nothing was changed");
  const next = { private_key: toKeyText(generateIdentityKey()), signs_from: now + NOTICE_SECONDS };
  await shelf.replace({ keys: [...record.keys, next] });
  return next.signs_from;
}

/** @throws Problem `unavailable` when the text of an identity's file is damaged. */
export function checkIdentityFile(text: string, name: string): void {
  const record = tryParseJson(text);
  if (!isRecord(record)) throw unreadable({ name });
  for (const { private_key } of record.keys) parseKept(private_key, { name });
}

function toShelf({ store, dataDir }: Pick<IdentityOptions, "store" | "dataDir">): IdentityShelf {
  if (!store) return createIdentityFile(join(dataDir, "a2a-identity.json"));
  return {
    name: "the identity in the store",
    read: () => store.get(STORE_KEY),
    putIfAbsent: (record) => store.putIfAbsent(STORE_KEY, record),
    replace: (record) => store.set(STORE_KEY, record),
  };
}

async function readRecord(shelf: IdentityShelf): Promise<IdentityRecord> {
  const record = await shelf.read();
  if (record === undefined) {
    const none = `There is no identity yet (${shelf.name}): nothing was changed`;
    throw new Problem("bad-request", `${none}; the server makes one when it starts`);
  }
  if (!isRecord(record)) throw unreadable(shelf);
  return record;
}

async function readOrMake(shelf: IdentityShelf): Promise<IdentityRecord> {
  const first: IdentityRecord = { keys: [{ private_key: toKeyText(generateIdentityKey()), signs_from: 0 }] };
  if ((await shelf.read()) === undefined && (await shelf.putIfAbsent(first))) return first;
  return readRecord(shelf);
}

function isRecord(value: unknown): value is IdentityRecord {
  const keys = typeof value === "object" && value !== null && "keys" in value ? value.keys : undefined;
  if (!Array.isArray(keys) || keys.length === 0) return false;
  return keys.every((key) => typeof key?.private_key === "string" && Number.isSafeInteger(key.signs_from));
}

function parseKept(text: string, shelf: Pick<IdentityShelf, "name">): KeyObject {
  try {
    return parseIdentityKeys(text)[0] as KeyObject;
  } catch {
    throw unreadable(shelf);
  }
}

const unreadable = ({ name }: Pick<IdentityShelf, "name">): Problem =>
  new Problem("unavailable", `${name} is damaged: restore it, or remove it to start with a new identity`);
