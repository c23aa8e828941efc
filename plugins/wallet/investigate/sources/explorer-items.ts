import { toJsonFields } from "../../fields.ts";
import { USDC_ON_BASE } from "../../intel/evm-reads.ts";
import type { Label, Transfer } from "./transfers.ts";

/** The transfers in an item: none, or one. Undefined for an item of another form. */
export type ReadItem = (item: unknown) => Transfer[] | undefined;

/** Reads an item of /addresses/{hash}/token-transfers; empty for amounts of 0. */
export const readTokenTransfers: ReadItem = (item) => {
  const { from, to, total, transaction_hash, log_index } = toJsonFields(item);
  const { value } = toJsonFields(total);
  return toTransfers({ item, from, to, asset: "USDC", units: value, tx: transaction_hash, at: log_index });
};

/** Whether an item of /addresses/{hash}/token-transfers is of another token than USDC, which the query has asked for. */
export function isOtherToken(item: unknown): boolean {
  const { address_hash, address = address_hash } = toJsonFields(toJsonFields(item).token);
  return isAddress(address) && address.toLowerCase() !== USDC_ON_BASE.toLowerCase();
}

/** Reads the ETH transfer of an item of /addresses/{hash}/transactions; empty for failed and pending transactions. */
export const readNativeTransfers: ReadItem = (item) => {
  const { from, to, value, hash, status } = toJsonFields(item);
  if (status === "error" || status === null) return [];
  if (status !== "ok") return undefined;
  return toTransfers({ item, from, to, asset: "ETH", units: value, tx: hash, at: "value" });
};

/**
 * Calls that run another contract's code for the caller. Traces show a value, but nothing moves: anybody can make them in
 * any amount to any address.
 */
const MOVES_NOTHING: ReadonlySet<unknown> = new Set(["delegatecall", "callcode", "staticcall"]);

/** Reads the ETH transfer of an item of /addresses/{hash}/internal-transactions; empty for failed calls. */
export const readInternalTransfers: ReadItem = (item) => {
  const { from, to, value, transaction_hash, index, success, type } = toJsonFields(item);
  if (success === false || MOVES_NOTHING.has(type)) return [];
  if (success !== true) return undefined;
  return toTransfers({ item, from, to, asset: "ETH", units: value, tx: transaction_hash, at: index, kind: "call " });
};

/** Names and tags of the two addresses of an item: untrusted text. */
export function readLabels(item: unknown): Label[] {
  const { from, to } = toJsonFields(item);
  return [from, to].flatMap((party) => {
    const { hash, name, metadata, is_scam } = toJsonFields(party);
    const { tags } = toJsonFields(metadata);
    const tagged = Array.isArray(tags) ? tags.map((tag) => toJsonFields(tag).name) : [];
    const words = [name, ...tagged, is_scam === true ? "scam, says the explorer" : undefined];
    const label = words.filter((word) => typeof word === "string" && word !== "").join(", ");
    return isAddress(hash) && label !== ""
      ? [{ address: hash.toLowerCase(), label: label.slice(0, 80).toWellFormed() }]
      : [];
  });
}

/** What tells an item from the others of its list. */
export function keyOf(item: unknown): string {
  const { hash, transaction_hash, log_index, index } = toJsonFields(item);
  return JSON.stringify([hash, transaction_hash, log_index, index]);
}

/** An item's sender, in lower case. */
export function readSender(item: unknown): string | undefined {
  const { hash } = toJsonFields(toJsonFields(item).from);
  return isAddress(hash) ? hash.toLowerCase() : undefined;
}

/** An item's time in Unix seconds; null without a time. */
export function readTime(item: unknown): number | null {
  const time = Date.parse(String(toJsonFields(item).timestamp));
  return Number.isNaN(time) ? null : Math.floor(time / 1000);
}

/** When Base's first block was mined, in Unix seconds. */
const BASE_BEGAN = 1_686_789_347;
/** How much faster than this machine's clock that of an explorer may run. */
const MOST_AHEAD_SECONDS = 600;

/** Whether something can have happened on Base at a time, in Unix seconds. @param now Unix milliseconds. */
export const isPossible = (at: number, now: number): boolean =>
  at >= BASE_BEGAN && at <= now / 1000 + MOST_AHEAD_SECONDS;

interface Parts {
  readonly item: unknown;
  readonly from: unknown;
  readonly to: unknown;
  readonly asset: Transfer["asset"];
  readonly units: unknown;
  readonly tx: unknown;
  /** The position within the transaction, among all of this kind. */
  readonly at: unknown;
  readonly kind?: string;
}

function toTransfers({ item, from, to, asset, units, tx, at: place, kind = "" }: Parts): Transfer[] | undefined {
  const [sender, recipient] = [toJsonFields(from).hash, toJsonFields(to).hash];
  const at = readTime(item);
  if (!isAddress(sender) || !isUnits(units) || at === null || typeof tx !== "string" || !HASH.test(tx))
    return undefined;
  if (place === undefined || place === null) return undefined; // Two transfers of one transaction would be taken for one.
  if (to === null || BigInt(units) === 0n) return []; // A new contract has no recipient.
  if (!isAddress(recipient)) return undefined;
  const parties = { from: sender.toLowerCase(), to: recipient.toLowerCase() };
  return [{ id: `${tx}:${kind}${String(place)}`, tx, ...parties, asset, units, at }];
}

const HASH = /^0x[0-9a-f]{64}$/i;

const isAddress = (value: unknown): value is string => typeof value === "string" && /^0x[0-9a-f]{40}$/i.test(value);
const isUnits = (value: unknown): value is string => typeof value === "string" && /^[0-9]{1,78}$/.test(value);
