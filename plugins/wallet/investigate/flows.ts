import { type Asset, compare, type Transfer, toAmount } from "./sources/transfers.ts";

/** The sum of transfers from one address to another in one asset. */
export interface Flow {
  readonly from: string;
  readonly to: string;
  readonly asset: Asset;
  /** Exact decimal text. */
  readonly amount: string;
  /** The largest of its transfers, likewise. */
  readonly largest: string;
  readonly count: number;
  /** Unix seconds. */
  readonly firstAt: number;
  readonly lastAt: number;
}

/** A counterparty of an address. Amounts are atomic units, both directions together. */
export interface Counterparty {
  readonly address: string;
  readonly usdc: bigint;
  /** The chain's native coin. */
  readonly coin: bigint;
}

/** The zero address, sender of minted and recipient of burned tokens. */
export const NOBODY = "0x0000000000000000000000000000000000000000";

/** The counterparties of an address, most important first: by USDC moved, then by coin moved, then by address. */
export function toCounterparties(address: string, transfers: readonly Transfer[]): Counterparty[] {
  const others = Map.groupBy(transfers, ({ from, to }) => (from === address ? to : from));
  others.delete(address);
  others.delete(NOBODY);
  return [...others]
    .map(([other, between]) => ({
      address: other,
      usdc: sum(between.filter(({ asset }) => asset === "USDC")),
      coin: sum(between.filter(({ asset }) => asset !== "USDC")),
    }))
    .sort(byWeight);
}

/** The order of importance. */
export const byWeight = (one: Counterparty, other: Counterparty): number =>
  compare(other.usdc, one.usdc) || compare(other.coin, one.coin) || compare(one.address, other.address);

/** The transfers summed up as flows, sorted by sender, recipient and asset. */
export function toFlows(transfers: readonly Transfer[]): Flow[] {
  const groups = Map.groupBy(transfers, ({ from, to, asset }) => `${from} ${to} ${asset}`);
  return [...groups]
    .sort(([one], [other]) => compare(one, other))
    .map(([, [first, ...rest]]) => {
      const { from, to, asset } = first as Transfer; // Groups are not empty.
      const all = [first as Transfer, ...rest];
      const times = all.map(({ at }) => at);
      return {
        from,
        to,
        asset,
        amount: toAmount(sum(all), asset),
        largest: toAmount(largest(all), asset),
        count: all.length,
        firstAt: Math.min(...times),
        lastAt: Math.max(...times),
      };
    });
}

/** The sums that an address received and sent in one asset. */
export interface Volume {
  readonly asset: Asset;
  /** Exact decimal text. */
  readonly received: string;
  readonly sent: string;
  readonly receivedCount: number;
  readonly sentCount: number;
}

/** One volume per asset, in alphabetical order. @param transfers without those from the address to itself. */
export function toVolumes(address: string, transfers: readonly Transfer[]): Volume[] {
  return [...Map.groupBy(transfers, ({ asset }) => asset)]
    .sort(([one], [other]) => compare(one, other))
    .map(([asset, all]) => {
      const [received, sent] = [all.filter(({ to }) => to === address), all.filter(({ from }) => from === address)];
      return {
        asset,
        received: toAmount(sum(received), asset),
        sent: toAmount(sum(sent), asset),
        receivedCount: received.length,
        sentCount: sent.length,
      };
    });
}

const sum = (transfers: readonly Transfer[]): bigint =>
  transfers.reduce((total, { units }) => total + BigInt(units), 0n);

const largest = (transfers: readonly Transfer[]): bigint =>
  transfers.reduce((most, { units }) => (BigInt(units) > most ? BigInt(units) : most), 0n);
