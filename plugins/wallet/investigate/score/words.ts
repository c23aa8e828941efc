import type { Exposure } from "./exposures.ts";

const toMoney = (dollars: number): string =>
  dollars < 1 ? "less than a dollar" : `about $${Math.round(dollars).toLocaleString("en-US")}`;
const toShort = (address: string): string => `${address.slice(0, 6)}…${address.slice(-4)}`;
const toPercent = (share: number): string => (share < 0.001 ? "less than 0.1 %" : `${Math.round(share * 1000) / 10} %`);

/** The beginning of a rule's sentence, for one exposure and for many. */
const HEADS: Readonly<Record<string, (count: number) => string>> = {
  paid_sanctioned: (count) => `It has paid ${toCount(count, "address")} on OFAC's SDN list`,
  paid_by_sanctioned: (count) => `${toCount(count, "address")} on OFAC's SDN list paid it`,
  dusted_by_sanctioned: (count) =>
    `${toCount(count, "sanctioned address", "sanctioned addresses")} sent it dust, which nobody can refuse`,
  near_sanctioned: (count) => `${toCount(count, "sanctioned address", "sanctioned addresses")} two hops away`,
  mixer_contact: (count) => `It dealt with ${toCount(count, "address", "addresses")} of a coin mixer`,
  dusted_by_mixer: (count) =>
    `${toCount(count, "address")} of a coin mixer sent it a little, and it never dealt with them`,
  bad_counterparties: (count) => `It dealt with ${toCount(count, "address")} of bad reputation`,
  bad_neighbourhood: (count) => `${toCount(count, "address")} of bad reputation two hops away`,
};

const toCount = (count: number, one: string, many = `${one}es`): string => `${count} ${count === 1 ? one : many}`;

/** A sentence about exposures: addresses, amount, direction, and share of all that went that way. */
export function toExposureFinding(code: string, exposures: readonly Exposure[]): string {
  const head = HEADS[code]?.(exposures.length) ?? code;
  const shown = exposures.slice(0, 3).map(say);
  const more = exposures.length > shown.length ? [`and ${exposures.length - shown.length} more`] : [];
  return `${head}: ${[...shown, ...more].join("; ")}.`;
}

function say({ address, via, sent, received, transfers, share, isDirected, isThroughHub }: Exposure): string {
  const ways = [
    ...(sent > 0 ? [`${toMoney(sent)} sent`] : []),
    ...(received > 0 ? [`${toMoney(received)} ${isDirected ? "received" : "in both directions"}`] : []),
  ].join(" and ");
  const hub = isThroughHub ? ", which deals with many" : "";
  const path = via === null ? "" : ` by way of ${toShort(via)}${hub}`;
  const parts = isDirected
    ? [
        ...(sent > 0 ? [`${toPercent(share.sent)} of all that it sent`] : []),
        ...(received > 0 ? [`${toPercent(share.received)} of all that it received`] : []),
      ].join(", ")
    : `${toPercent(share.received)} of its money`;
  return `${toShort(address)}${path}, ${ways} in ${transfers} ${transfers === 1 ? "transfer" : "transfers"} (${parts})`;
}
