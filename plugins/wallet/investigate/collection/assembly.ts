import type { IntelBundle } from "../../intel/bundle.ts";
import type { Evidence, Graph, GraphNode, Screened } from "../evidence.ts";
import { toVolumes } from "../flows.ts";
import { compareTexts, type Transfer } from "../sources/transfers.ts";
import type { Correlation, Known } from "./correlation.ts";
import type { Neighbourhood } from "./graph.ts";
import type { Told } from "./histories.ts";

/** Screenings by address. */
export type Screens = Readonly<Record<string, Screened>>;

/** How many of the largest transfers of each asset are told. */
const LARGEST = 10;

/** An address's transfers in numbers. */
export function toMovements(
  address: string,
  { transfers, coverage, isWhole }: Told,
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

/** The neighbourhood with names and screenings. */
export function toGraph(
  { members, flows, counterparties, labels }: Neighbourhood,
  { names }: Correlation,
  screens: Screens,
): Graph {
  const called = new Map([...labels].reverse().map(({ address, label }) => [address, label])); // the first one stands
  const nodes = members.map(({ address, hop }): GraphNode => {
    const label = names[address] ?? called.get(address) ?? null;
    return { address, hop, label, screened: screens[address] ?? null };
  });
  return { nodes, flows, counterparties };
}

/** Who is behind the subject, as far as names and money tell. */
export function toIdentity(
  { subject, funding, neighbourhood }: Known,
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

/** A neighbourhood of nobody else: for a subject whose transfers could not be read. */
export const toLonely = (address: string): Neighbourhood => ({
  members: [{ address, hop: 0 }],
  ...{ flows: [], counterparties: 0, labels: [], funding: [], missing: [] },
});
