import type { IntelBundle } from "../../intel/bundle.ts";
import type { Evidence, Graph, GraphNode, Screened } from "../evidence.ts";
import { toVolumes } from "../flows.ts";
import { compareTexts, type Transfer } from "../sources/transfers.ts";
import type { Correlation, CorrelationInput } from "./correlation.ts";
import type { Neighbourhood } from "./graph.ts";
import type { MergedHistory } from "./histories.ts";

/** Screenings by address. */
export type Screens = Readonly<Record<string, Screened>>;

/** How many of the largest transfers of each asset are listed. */
const LARGEST = 10;

/** Sums up the subject's transfers. */
export function toMovements(
  address: string,
  { transfers, coverage, isWhole }: MergedHistory,
): NonNullable<Evidence["movements"]> {
  const others = transfers.filter(({ from, to }) => from !== to);
  return {
    volumes: toVolumes(address, others),
    senders: new Set(others.filter(({ to }) => to === address).map(({ from }) => from)).size,
    recipients: new Set(others.filter(({ from }) => from === address).map(({ to }) => to)).size,
    firstAt: others[0]?.at ?? null,
    lastAt: others.at(-1)?.at ?? null,
    coverage,
    isWhole,
    largest: [...Map.groupBy(others, ({ asset }) => asset)]
      .sort(([one], [other]) => compareTexts(one, other))
      .flatMap(([, all]) => all.sort(bySize).slice(0, LARGEST)),
  };
}

function bySize(one: Transfer, other: Transfer): number {
  const [less, more] = [BigInt(other.units), BigInt(one.units)];
  return Number(less > more) - Number(less < more) || compareTexts(one.id, other.id);
}

/** Adds names and screenings to the neighbourhood. */
export function toGraph(
  { members, flows, counterparties, labels }: Neighbourhood,
  { names }: Correlation,
  screens: Screens,
): Graph {
  const called = new Map([...labels].reverse().map(({ address, label }) => [address, label])); // Of several labels the first wins.
  const nodes = members.map(({ address, hop }): GraphNode => {
    const label = names[address] ?? called.get(address) ?? null;
    return { address, hop, label, screened: screens[address] ?? null };
  });
  return { nodes, flows, counterparties };
}

/** The subject's names, first funder and linked addresses. */
export function toIdentity(
  { subject, funding, neighbourhood }: CorrelationInput,
  profile: IntelBundle | null,
  { correlation, screens }: { readonly correlation: Correlation; readonly screens: Screens },
): Evidence["identity"] {
  const labels = neighbourhood.labels.filter(({ address }) => address === subject.address);
  return {
    ensName: profile?.identity.ens_name ?? null,
    snsName: profile?.identity.sns_name ?? null,
    labels: [...new Set(labels.map(({ label }) => label))],
    funding,
    links: correlation.links.map((link) => ({ ...link, screened: screens[link.address] ?? null })),
  };
}

/** The neighbourhood of a subject whose transfers could not be read: the subject alone. */
export const toEmptyNeighbourhood = (address: string): Neighbourhood => ({
  members: [{ address, hop: 0 }],
  flows: [],
  counterparties: 0,
  labels: [],
  funding: [],
  missing: [],
});
