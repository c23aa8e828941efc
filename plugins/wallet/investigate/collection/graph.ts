import PQueue from "p-queue";
import { Problem } from "#plugin";
import type { Missing } from "../evidence.ts";
import { byWeight, type Flow, NOBODY, toCounterparties, toFlows } from "../flows.ts";
import { type Label, mergeTransfers, type Transfer } from "../sources/transfers.ts";
import type { Subject } from "../subject.ts";
import type { MergedHistory, ReadHistory } from "./histories.ts";

/** The members of the graph and their transfers, before names and screenings. */
export interface Neighbourhood {
  /** The subject first, then by hop; within a hop the most important first. */
  readonly members: readonly { readonly address: string; readonly hop: 0 | 1 | 2 }[];
  readonly flows: readonly Flow[];
  readonly counterparties: number;
  readonly labels: readonly Label[];
  /** The first transfer that each direct counterparty received, where known. */
  readonly funding: readonly Transfer[];
  readonly missing: readonly Missing[];
}

/** At most 100 nodes: the subject, 25 direct counterparties (with the first funder), and 3 more for each of these. */
const BOUNDS = { first: 25, eachSecond: 3, nodes: 100 } as const;
const AT_ONCE = 3;

/** Follows the transfers of the subject and of its most important counterparties. @throws the signal's reason. */
export async function explore(
  subject: Subject,
  history: MergedHistory,
  { readHistory, signal }: ExploreOptions,
): Promise<Neighbourhood> {
  const counterparties = toCounterparties(subject.address, history.transfers);
  const funder = findFunding(subject.address, history)?.from;
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
    flows: toFlows(within(members, [history.transfers, ...histories.map(({ transfers }) => transfers)])),
    counterparties: counterparties.length,
    labels: toLabels(members, [history, ...histories]),
    funding: first.flatMap((address, at) => findFunding(address, histories[at] as CounterpartyHistory) ?? []),
    missing: histories.flatMap(({ failure }) => failure ?? []),
  };

  async function ask(counterparty: Subject): Promise<CounterpartyHistory> {
    try {
      return await readHistory(counterparty, "counterparty", signal);
    } catch (error) {
      const failure = { source: `counterparty ${counterparty.address}`, message: Problem.from(error).message };
      return { transfers: [], labels: [], isWhole: false, failure };
    }
  }
}

export interface ExploreOptions {
  readonly readHistory: ReadHistory;
  readonly signal: AbortSignal;
}

type CounterpartyHistory = Pick<MergedHistory, "transfers" | "labels" | "isWhole"> & { readonly failure?: Missing };

/** The first transfer that an address received; null unless its history is whole. */
export function findFunding(address: string, { transfers, isWhole }: Pick<MergedHistory, "transfers" | "isWhole">) {
  if (!isWhole) return null;
  return transfers.find(({ from, to }) => to === address && from !== address && from !== NOBODY) ?? null;
}

/** The most important counterparties of each direct counterparty, most important first. */
function chooseSecond(
  known: ReadonlySet<string>,
  first: readonly string[],
  histories: readonly CounterpartyHistory[],
): string[] {
  const candidates = first.flatMap((address, at) =>
    toCounterparties(address, histories[at]?.transfers ?? [])
      .filter((found) => !known.has(found.address))
      .slice(0, BOUNDS.eachSecond),
  );
  return [...new Set(candidates.sort(byWeight).map(({ address }) => address))].slice(0, BOUNDS.nodes - known.size);
}

/** The members' labels, without duplicates. */
function toLabels(members: Neighbourhood["members"], histories: readonly Pick<MergedHistory, "labels">[]): Label[] {
  const addresses = new Set(members.map(({ address }) => address));
  const labels = histories.flatMap((history) => history.labels).filter(({ address }) => addresses.has(address));
  return [...new Map(labels.map((label) => [`${label.address} ${label.label}`, label])).values()];
}

function within(members: Neighbourhood["members"], lists: readonly (readonly Transfer[])[]): Transfer[] {
  const addresses = new Set(members.map(({ address }) => address));
  return mergeTransfers(lists).filter(({ from, to }) => from !== to && addresses.has(from) && addresses.has(to));
}
