import { type Asset, compareTexts, type Transfer, toAmount } from "./sources/transfers.ts";

/** All that went from one address to another in one asset. */
export interface Flow {
  readonly from: string;
  readonly to: string;
  readonly asset: Asset;
  /** Exact decimal text. */
  readonly amount: string;
  readonly count: number;
  /** Unix seconds. */
  readonly firstAt: number;
  readonly lastAt: number;
}

/** Whom an address deals with. Amounts are atomic units. */
export interface Counterparty {
  readonly address: string;
  readonly usdc: bigint;
  /** Of the chain's own coin. */
  readonly coin: bigint;
  readonly count: number;
}

/** Where tokens come from when they are issued, and go to when they are destroyed: nobody's address. */
export const NOBODY = "0x0000000000000000000000000000000000000000";

/** Those whom an address deals with, the most important first: by USDC moved, then by coins, then by address. */
export function toCounterparties(address: string, transfers: readonly Transfer[]): Counterparty[] {
  const others = Map.groupBy(transfers, ({ from, to }) => (from === address ? to : from));
  others.delete(address);
  others.delete(NOBODY);
  return [...others]
    .map(([other, between]) => ({
      address: other,
      usdc: sum(between.filter(({ asset }) => asset === "USDC")),
      coin: sum(between.filter(({ asset }) => asset !== "USDC")),
      count: between.length,
    }))
    .sort(byWeight);
}

/** The order of importance. */
export const byWeight = (one: Counterparty, other: Counterparty): number =>
  compare(other.usdc, one.usdc) || compare(other.coin, one.coin) || compareTexts(one.address, other.address);

/** The transfers as flows, in the order of sender, recipient and asset. */
export function toFlows(transfers: readonly Transfer[]): Flow[] {
  const groups = Map.groupBy(transfers, ({ from, to, asset }) => `${from} ${to} ${asset}`);
  return [...groups]
    .sort(([one], [other]) => compareTexts(one, other))
    .map(([, [first, ...rest]]) => {
      const { from, to, asset } = first as Transfer; // a group has a member
      const all = [first as Transfer, ...rest];
      const times = all.map(({ at }) => at);
      return {
        ...{ from, to, asset, amount: toAmount(sum(all), asset), count: all.length },
        ...{ firstAt: Math.min(...times), lastAt: Math.max(...times) },
      };
    });
}

/** What went through an address in one asset. */
export interface Volume {
  readonly asset: Asset;
  /** Exact decimal text. */
  readonly received: string;
  readonly sent: string;
  readonly receivedCount: number;
  readonly sentCount: number;
}

/** By asset, in alphabetical order. @param transfers of the address with others, none with itself. */
export function toVolumes(address: string, transfers: readonly Transfer[]): Volume[] {
  return [...Map.groupBy(transfers, ({ asset }) => asset)]
    .sort(([one], [other]) => compareTexts(one, other))
    .map(([asset, all]) => {
      const [received, sent] = [all.filter(({ to }) => to === address), all.filter(({ from }) => from === address)];
      return {
        ...{ asset, received: toAmount(sum(received), asset), sent: toAmount(sum(sent), asset) },
        ...{ receivedCount: received.length, sentCount: sent.length },
      };
    });
}

const sum = (transfers: readonly Transfer[]): bigint =>
  transfers.reduce((total, { units }) => total + BigInt(units), 0n);

const compare = (one: bigint, other: bigint): number => Number(one > other) - Number(one < other);
