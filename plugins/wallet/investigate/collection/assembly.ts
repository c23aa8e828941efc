import type { Activity, Evidence, Graph, GraphNode, Movements, Screened } from "../evidence.ts";
import { toVolumes } from "../flows.ts";
import { compare, type Transfer } from "../sources/transfers.ts";
import type { Correlation, CorrelationInput } from "./correlation.ts";
import type { Neighbourhood } from "./graph.ts";
import type { MergedHistory } from "./histories.ts";
import type { Profile } from "./profile.ts";

/** Screenings by address. */
export type Screens = Readonly<Record<string, Screened>>;

/** How many of the largest transfers of each asset are listed. */
const LARGEST = 10;

/** Sums up the subject's transfers. */
export function toMovements(
  address: string,
  { transfers, isWhole }: Pick<MergedHistory, "transfers" | "isWhole">,
): Movements {
  const others = transfers.filter(({ from, to }) => from !== to);
  return {
    volumes: toVolumes(address, others),
    senders: new Set(others.filter(({ to }) => to === address).map(({ from }) => from)).size,
    recipients: new Set(others.filter(({ from }) => from === address).map(({ to }) => to)).size,
    firstAt: others[0]?.at ?? null,
    lastAt: others.at(-1)?.at ?? null,
    isWhole,
    largest: [...Map.groupBy(others, ({ asset }) => asset)]
      .sort(([one], [other]) => compare(one, other))
      .flatMap(([, all]) => all.sort(bySize).slice(0, LARGEST)),
  };
}

function bySize(one: Transfer, other: Transfer): number {
  const [less, more] = [BigInt(other.units), BigInt(one.units)];
  return compare(less, more) || compare(one.id, other.id);
}

/** Adds names and screenings to the neighbourhood. */
export function toGraph(
  { members, flows, counterparties, labels }: Neighbourhood,
  { names }: Correlation,
  screens: Screens,
): Graph {
  // When an address has several labels, the first one is kept.
  const called = new Map([...labels].reverse().map(({ address, label }) => [address, label]));
  const nodes = members.map(({ address, hop, contacts }): GraphNode => {
    const label = names[address] ?? called.get(address) ?? null;
    return { address, hop, contacts, label, screened: screens[address] ?? null };
  });
  return { nodes, flows, counterparties };
}

/** The subject's names, first funder and linked addresses. */
export function toIdentity(
  { subject, funding, neighbourhood }: CorrelationInput,
  profile: Profile,
  { correlation, screens }: { readonly correlation: Correlation; readonly screens: Screens },
): Evidence["identity"] {
  const labels = neighbourhood.labels.filter(({ address }) => address === subject.address);
  return {
    ensName: profile.identity.ens_name,
    snsName: profile.identity.sns_name,
    labels: [...new Set(labels.map(({ label }) => label))],
    funding,
    links: correlation.links.map((link) => ({ ...link, screened: screens[link.address] ?? null })),
  };
}

/** The subject's age: its first transaction when known, and the oldest one that any source has shown. */
export function toActivity({ activity }: Profile, firstSent: number | null, { firstSeenAt, oldestAt }: Ages): Activity {
  const known = [firstSent, firstSeenAt, oldestAt].filter((time) => time !== null);
  const seenSince = known.length > 0 ? Math.min(...known) : null;
  return { ...activity, firstSeenAt: firstSeenAt === null ? null : seenSince, seenSince };
}

type Ages = Pick<MergedHistory, "firstSeenAt" | "oldestAt">;
