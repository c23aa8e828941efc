import type { Evidence, GraphNode, Screened } from "../evidence.ts";
import type { Flow } from "../flows.ts";

/** What a flagged address is suspected of. */
export type ExposureKind = "sanctioned" | "mixer" | "bad";

/** What the subject sent, and what it received. */
type Totals = Readonly<Record<"sent" | "received", number>>;

/** The money between the subject and a flagged address. Dollars are rough: coins are counted at a fixed price. */
export interface Exposure {
  readonly kind: ExposureKind;
  readonly address: string;
  readonly hop: 1 | 2;
  /** The direct counterparty in between, for two hops. */
  readonly via: string | null;
  /**
   * Dollars that the subject sent to the flagged address and received from it. For two hops, at most the smaller amount
   * of both.
   */
  readonly sent: number;
  readonly received: number;
  readonly transfers: number;
  /** The parts of all that the subject sent, and of all that it received: 0 to 1. */
  readonly share: Totals;
  /** Whether money moved in one direction over both hops. Always true for one hop. */
  readonly isDirected: boolean;
  /**
   * Whether the counterparty in between deals with so many addresses that it links nobody, like an exchange or a shop.
   */
  readonly isThroughHub: boolean;
  /** Whether the subject took no part: the flagged address sent a little, and got nothing back. */
  readonly isUnsolicited: boolean;
}

/** Round prices in dollars, used only to weigh amounts, since a report must not depend on the current price. */
export const PRICES: Readonly<Record<Flow["asset"], number>> = { USDC: 1, ETH: 2500, SOL: 150 };
/** An address with this many contacts, in the few pages that were read, deals with anybody. */
const HUB_CONTACTS = 40;
/** The limits of dust. They are higher for a mixer, which pays out fixed sums. */
const DUST = { dollars: 100, each: 1, share: 1 } as const;
const UNSOLICITED = {
  sanctioned: DUST,
  bad: DUST,
  mixer: { dollars: 500, each: 500, share: 0.01 },
} as const;

/**
 * The exposures to all flagged addresses of the graph, those with the most money first. A small sum that an address
 * has sent does not hide what came from it by way of others.
 */
export function findExposures({ graph, movements }: Evidence): Exposure[] {
  const [subject] = graph.nodes;
  if (!subject) return [];
  const totals = toTotals(movements.volumes);
  const flagged = graph.nodes.flatMap((node) => kindsOf(node).map((kind) => ({ node, kind })));
  const between = createBetween(graph.flows);
  return flagged
    .flatMap(({ node, kind }): Exposure[] => {
      const direct = node.hop === 1 ? toDirect(between(subject.address, node.address), { node, kind, totals }) : [];
      const near = graph.nodes.filter(({ hop, address }) => hop === 1 && address !== node.address);
      const paths = near.flatMap((via) => toIndirect(via, { node, kind, totals, subject, between }));
      return [...direct, ...paths.sort(byTelling).slice(0, 1)];
    })
    .sort(byMoney);
}

function kindsOf({ hop, screened }: GraphNode): ExposureKind[] {
  if (hop === 0 || !screened) return [];
  if (screened.sanctions_match) return ["sanctioned"];
  return [
    ...(isMixer(screened) ? ["mixer" as const] : []),
    ...(screened.risk_level === "high" ? ["bad" as const] : []),
  ];
}

const isMixer = ({ signals }: Screened): boolean => signals.some(({ code }) => code === "mixer");

/** The money between two addresses, as seen from the first. */
interface Between {
  readonly sent: number;
  readonly received: number;
  /** The largest transfer that was received: many small ones behind it make it no smaller. */
  readonly largest: number;
  readonly transfers: number;
}

function createBetween(flows: readonly Flow[]): (one: string, other: string) => Between {
  const byPair = Map.groupBy(flows, ({ from, to }) => `${from} ${to}`);
  return (one, other) => {
    const [out, back] = [byPair.get(`${one} ${other}`) ?? [], byPair.get(`${other} ${one}`) ?? []];
    return {
      sent: toDollars(out),
      received: toDollars(back),
      // A job's step may be of an earlier version.
      largest: Math.max(0, ...back.map(({ amount, largest = amount, asset }) => toCents(largest, asset))) / 100,
      transfers: [...out, ...back].reduce((sum, { count }) => sum + count, 0),
    };
  };
}

interface Flagged {
  readonly node: GraphNode;
  readonly kind: ExposureKind;
  readonly totals: Totals;
}

function toDirect({ largest, ...found }: Between, { node, kind, totals }: Flagged): Exposure[] {
  if (found.transfers === 0) return [];
  const share = toShare(found, totals);
  const { dollars, each, share: most } = UNSOLICITED[kind];
  const isLittle = found.received < dollars && largest < each && share.received <= most;
  return [
    {
      ...found,
      kind,
      address: node.address,
      hop: 1,
      via: null,
      share,
      isDirected: true,
      isThroughHub: false,
      isUnsolicited: found.sent === 0 && isLittle,
    },
  ];
}

interface OnTheWay extends Flagged {
  readonly subject: GraphNode;
  readonly between: (one: string, other: string) => Between;
}

function toIndirect(via: GraphNode, { node, kind, totals, subject, between }: OnTheWay): Exposure[] {
  const [near, far] = [between(subject.address, via.address), between(via.address, node.address)];
  if (near.transfers === 0 || far.transfers === 0) return [];
  const [sent, received] = [Math.min(near.sent, far.sent), Math.min(near.received, far.received)];
  const met = Math.min(near.sent + near.received, far.sent + far.received);
  const isDirected = Math.max(sent, received) >= 1;
  const money = isDirected ? { sent, received } : { sent: 0, received: met };
  return [
    {
      ...money,
      kind,
      address: node.address,
      hop: 2,
      via: via.address,
      transfers: far.transfers,
      share: toShare(money, totals),
      isDirected,
      isThroughHub: (via.contacts ?? 0) >= HUB_CONTACTS,
      isUnsolicited: far.sent === 0 && far.received < DUST.dollars && far.largest < DUST.each,
    },
  ];
}

/** The path that counts most is first: much money through an exchange must not hide less money through a private address. */
const byTelling = (one: Exposure, other: Exposure): number =>
  Number(one.isUnsolicited) - Number(other.isUnsolicited) ||
  Number(one.isThroughHub) - Number(other.isThroughHub) ||
  Number(other.isDirected) - Number(one.isDirected) ||
  byMoney(one, other);

const byMoney = (one: Exposure, other: Exposure): number =>
  other.sent + other.received - (one.sent + one.received) ||
  Number(one.address > other.address) - Number(one.address < other.address);

function toShare(money: Totals, totals: Totals): Totals {
  const of = (part: number, all: number): number =>
    all > 0 ? Math.round(Math.min(1, part / all) * 10_000) / 10_000 : 0;
  return { sent: of(money.sent, totals.sent), received: of(money.received, totals.received) };
}

const toTotals = (volumes: Evidence["movements"]["volumes"]): Totals => ({
  sent: volumes.reduce((sum, { asset, sent }) => sum + Number(sent) * PRICES[asset], 0),
  received: volumes.reduce((sum, { asset, received }) => sum + Number(received) * PRICES[asset], 0),
});

/**
 * In whole cents, so that the same flows give the same sum in any order. 0.999999 is less than a dollar. A sum below a
 * cent counts as one: any sum shows who sent something.
 */
function toDollars(flows: readonly Flow[]): number {
  const cents = flows.reduce((sum, { amount, asset }) => sum + toCents(amount, asset), 0);
  return Math.max(cents, Math.sign(flows.length)) / 100;
}

const toCents = (amount: string, asset: Flow["asset"]): number =>
  Math.floor(Number(amount) * PRICES[asset] * 100 + 1e-7);
