import PQueue from "p-queue";
import { Problem } from "#plugin";
import type { Missing } from "../evidence.ts";
import { byWeight, type Flow, NOBODY, toCounterparties, toFlows } from "../flows.ts";
import { type Label, mergeTransfers, type Transfer } from "../sources/transfers.ts";
import type { Subject } from "../subject.ts";
import type { Tell, Told } from "./histories.ts";

/** Who is in the graph and what moved between them, before anybody is screened or named. */
export interface Neighbourhood {
  /** The subject first, then by hop; within a hop the most important first. */
  readonly members: readonly { readonly address: string; readonly hop: 0 | 1 | 2 }[];
  readonly flows: readonly Flow[];
  readonly counterparties: number;
  readonly labels: readonly Label[];
  /** The first transfer that each direct counterparty ever received, where that is known. */
  readonly funding: readonly Transfer[];
  readonly missing: readonly Missing[];
}

/** At most 100 nodes: the subject, 25 around it (who paid it first is among them), and 3 more for each of these. */
const BOUNDS = { first: 25, eachSecond: 3, nodes: 100 } as const;
const AT_ONCE = 3;

/** Follows a subject's transfers, and those of whom it dealt with most. @throws the signal's reason. */
export async function explore(subject: Subject, told: Told, { tell, signal }: ExploreOptions): Promise<Neighbourhood> {
  const counterparties = toCounterparties(subject.address, told.transfers);
  const funder = findFunding(subject.address, told)?.from;
  const important = counterparties.map(({ address }) => address);
  const first = [...new Set([...(funder === undefined ? [] : [funder]), ...important])].slice(0, BOUNDS.first);
  const queue = new PQueue({ concurrency: AT_ONCE });
  const histories = await queue.addAll(first.map((address) => () => ask({ ...subject, address })));
  signal.throwIfAborted();
  const second = chooseSecond(new Set([subject.address, ...first]), first, histories);
  const members = [
    { address: subject.address, hop: 0 as const },
    ...first.map((address) => ({ address, hop: 1 as const })),
    ...second.map((address) => ({ address, hop: 2 as const })),
  ];
  return {
    members,
    flows: toFlows(within(members, [told.transfers, ...histories.map(({ transfers }) => transfers)])),
    counterparties: counterparties.length,
    labels: toLabels(members, [told, ...histories]),
    funding: first.flatMap((address, at) => findFunding(address, histories[at] as Heard) ?? []),
    missing: histories.flatMap(({ failure }) => failure ?? []),
  };

  async function ask(counterparty: Subject): Promise<Heard> {
    try {
      return await tell(counterparty, "counterparty", signal);
    } catch (error) {
      const failure = { source: `counterparty ${counterparty.address}`, message: Problem.from(error).message };
      return { transfers: [], labels: [], isWhole: false, failure };
    }
  }
}

export interface ExploreOptions {
  readonly tell: Tell;
  readonly signal: AbortSignal;
}

type Heard = Pick<Told, "transfers" | "labels" | "isWhole"> & { readonly failure?: Missing };

/** The first transfer that an address received; null unless all of its history is known. */
export function findFunding(address: string, { transfers, isWhole }: Pick<Told, "transfers" | "isWhole">) {
  if (!isWhole) return null;
  return transfers.find(({ from, to }) => to === address && from !== address && from !== NOBODY) ?? null;
}

/** The most important counterparties of each first one, those of the largest first. */
function chooseSecond(known: ReadonlySet<string>, first: readonly string[], histories: readonly Heard[]): string[] {
  const candidates = first.flatMap((address, at) =>
    toCounterparties(address, histories[at]?.transfers ?? [])
      .filter((found) => !known.has(found.address))
      .slice(0, BOUNDS.eachSecond),
  );
  return [...new Set(candidates.sort(byWeight).map(({ address }) => address))].slice(0, BOUNDS.nodes - known.size);
}

/** What the members are called, each name once. */
function toLabels(members: Neighbourhood["members"], histories: readonly Pick<Told, "labels">[]): Label[] {
  const addresses = new Set(members.map(({ address }) => address));
  const labels = histories.flatMap((history) => history.labels).filter(({ address }) => addresses.has(address));
  return [...new Map(labels.map((label) => [`${label.address} ${label.label}`, label])).values()];
}

function within(members: Neighbourhood["members"], lists: readonly (readonly Transfer[])[]): Transfer[] {
  const addresses = new Set(members.map(({ address }) => address));
  return mergeTransfers(lists).filter(({ from, to }) => from !== to && addresses.has(from) && addresses.has(to));
}
