import { toFields } from "../../fields.ts";
import type { Label, Transfer } from "./transfers.ts";

/** USDC, from an item of /addresses/{hash}/token-transfers; nothing from what has another form, or moves nothing. */
export function readTokenTransfers(item: unknown): Transfer[] {
  const { from, to, total, transaction_hash, log_index } = toFields(item);
  const { value } = toFields(total);
  return toTransfers({ item, from, to, asset: "USDC", units: value, tx: transaction_hash, at: log_index });
}

/** ETH, from an item of /addresses/{hash}/transactions that succeeded. */
export function readNativeTransfers(item: unknown): Transfer[] {
  const { from, to, value, hash, status } = toFields(item);
  if (status !== "ok") return [];
  return toTransfers({ item, from, to, asset: "ETH", units: value, tx: hash, at: "value" });
}

/** Names and tags of the two addresses of an item. They are whatever somebody has published: data, never trusted. */
export function readLabels(item: unknown): Label[] {
  const { from, to } = toFields(item);
  return [from, to].flatMap((party) => {
    const { hash, name, metadata, is_scam } = toFields(party);
    const { tags } = toFields(metadata);
    const tagged = Array.isArray(tags) ? tags.map((tag) => toFields(tag).name) : [];
    const words = [name, ...tagged, is_scam === true ? "scam, says the explorer" : undefined];
    const label = words.filter((word) => typeof word === "string" && word !== "").join(", ");
    return isAddress(hash) && label !== "" ? [{ address: hash.toLowerCase(), label: label.slice(0, 80) }] : [];
  });
}

/** When an item happened: Unix seconds; null for what has no time. */
export function readTime(item: unknown): number | null {
  const time = Date.parse(String(toFields(item).timestamp));
  return Number.isNaN(time) ? null : Math.floor(time / 1000);
}

interface Parts {
  readonly item: unknown;
  readonly from: unknown;
  readonly to: unknown;
  readonly asset: Transfer["asset"];
  readonly units: unknown;
  readonly tx: unknown;
  /** Where in the transaction. */
  readonly at: unknown;
}

function toTransfers({ item, from, to, asset, units, tx, at: place }: Parts): Transfer[] {
  const [sender, recipient] = [toFields(from).hash, toFields(to).hash];
  const at = readTime(item);
  if (!isAddress(sender) || !isAddress(recipient) || !isUnits(units) || at === null) return [];
  if (typeof tx !== "string" || !HASH.test(tx) || BigInt(units) === 0n) return [];
  const parties = { from: sender.toLowerCase(), to: recipient.toLowerCase() };
  return [{ id: `${tx}:${String(place)}`, tx, ...parties, asset, units, at }];
}

const HASH = /^0x[0-9a-f]{64}$/i;

const isAddress = (value: unknown): value is string => typeof value === "string" && /^0x[0-9a-f]{40}$/i.test(value);
const isUnits = (value: unknown): value is string => typeof value === "string" && /^[0-9]{1,78}$/.test(value);
