import PQueue from "p-queue";
import type { Call } from "#plugin";
import type { GraphNode, Missing } from "../evidence.ts";
import { byWeight, type Counterparty, type Flow, NOBODY, toCounterparties, toFlows } from "../flows.ts";
import { uniqueLabels } from "../sources/explorer-lists.ts";
import { toFailure } from "../sources/failure.ts";
import { type Label, mergeTransfers, type Transfer } from "../sources/transfers.ts";
import type { Subject } from "../subject.ts";
import type { MergedHistory, ReadHistory } from "./histories.ts";

/** The members of the graph and their transfers, before names and screenings. */
export interface Neighbourhood {
  /** The subject first, then by hop; within a hop, most important first. */
  readonly members: readonly Member[];
  readonly flows: readonly Flow[];
  readonly counterparties: number;
  /** How many direct counterparties' histories were read in part, and how many addresses are known behind them all. */
  readonly cut: number;
  readonly behind: number;
  readonly labels: readonly Label[];
  /** The first transfer that each direct counterparty received, where known. */
  readonly funding: readonly Transfer[];
  readonly missing: readonly Missing[];
}

/** A node of the graph, without name and screening. */
export type Member = Pick<GraphNode, "address" | "hop" | "contacts">;

/**
 * At most 100 nodes: the subject, 25 direct counterparties (including the first funder), and 3 more for each of these.
 */
const BOUNDS = { first: 25, eachSecond: 3, nodes: 100 } as const;
const AT_ONCE = 3;
/** The points that the transfers of an unread counterparty may hide. */
const BEHIND_AT_STAKE = 45;

/**
 * Follows the transfers of the subject and of its most important counterparties. Counterparties on the sanctions list come
 * first, however little they moved. @throws the signal's reason, and failures of steps.
 */
export async function explore(
  subject: Subject,
  history: MergedHistory,
  { readHistory, isListed, step, signal }: ExploreOptions,
): Promise<Neighbourhood> {
  const counterparties = await listedFirst(toCounterparties(subject.address, history.transfers), isListed);
  const funder = findFunding(subject.address, history)?.from;
  const important = counterparties.map(({ address }) => address);
  const first = [...new Set([...(funder === undefined ? [] : [funder]), ...important])].slice(0, BOUNDS.first);
  const queue = new PQueue({ concurrency: AT_ONCE });
  const histories = await queue.addAll(first.map((address) => () => ask({ ...subject, address })));
  signal.throwIfAborted();
  const { chosen: second, behind } = await chooseSecond(new Set([subject.address, ...first]), first, {
    histories,
    isListed,
  });
  const contactsOf = (at: number): number | null => {
    const { transfers, isRead } = histories[at] as CounterpartyHistory; // `histories` is as long as `first`.
    return isRead ? toCounterparties(first[at] ?? "", transfers).length : null;
  };
  const members: Member[] = [
    { address: subject.address, hop: 0, contacts: counterparties.length },
    ...first.map((address, at) => ({ address, hop: 1 as const, contacts: contactsOf(at) })),
    ...second.map((address) => ({ address, hop: 2 as const, contacts: null })),
  ];
  return {
    members,
    flows: toFlows(within(members, [history.transfers, ...histories.map(({ transfers }) => transfers)])),
    counterparties: counterparties.length,
    cut: histories.filter(({ isRead, isWhole }) => isRead && !isWhole).length,
    behind,
    labels: toLabels(members, [history, ...histories]),
    funding: first.flatMap((address, at) => findFunding(address, histories[at] as CounterpartyHistory) ?? []),
    missing: toUnread(histories, first.length),
  };

  async function ask(counterparty: Subject): Promise<CounterpartyHistory> {
    const reading = { depth: "counterparty", signal, step: passOn } as const;
    try {
      const found = await step(`counterparty ${counterparty.address}`, async () => {
        const { transfers, labels, isWhole, missing } = await readHistory(counterparty, reading);
        return { transfers, labels, isWhole, failure: missing.find(({ atStake }) => atStake > 0)?.message ?? null };
      });
      return { ...found, isRead: true };
    } catch (error) {
      signal.throwIfAborted();
      return { transfers: [], labels: [], isWhole: false, isRead: false, failure: toFailure(error).message };
    }
  }
}

const passOn = <T>(_: string, work: () => Promise<T>): Promise<T> => work();

export interface ExploreOptions extends Pick<Call, "step" | "signal"> {
  readonly readHistory: ReadHistory;
  /** Whether the sanctions list names an address. */
  readonly isListed: (address: string) => Promise<boolean>;
}

interface CounterpartyHistory extends Pick<MergedHistory, "transfers" | "labels" | "isWhole"> {
  readonly isRead: boolean;
  /** Why a part could not be read. */
  readonly failure: string | null;
}

/** One entry for all counterparties that were not read completely. */
function toUnread(histories: readonly CounterpartyHistory[], of: number): Missing[] {
  const unread = histories.filter(({ failure }) => failure !== null);
  const message = `Of ${of} direct counterparties ${unread.length} could not be followed: ${unread[0]?.failure}`;
  return unread.length > 0 ? [{ source: "counterparties", message, atStake: BEHIND_AT_STAKE }] : [];
}

async function listedFirst(
  counterparties: readonly Counterparty[],
  isListed: ExploreOptions["isListed"],
): Promise<Counterparty[]> {
  const marks = await Promise.all(counterparties.map(({ address }) => isListed(address)));
  return [true, false].flatMap((mark) => counterparties.filter((_, at) => marks[at] === mark));
}

/** The first transfer that an address received; null unless its history is whole. */
export function findFunding(
  address: string,
  { transfers, isWhole }: Pick<MergedHistory, "transfers" | "isWhole">,
): Transfer | null {
  if (!isWhole) return null;
  return transfers.find(({ from, to }) => to === address && from !== address && from !== NOBODY) ?? null;
}

/** The most important counterparties of each direct counterparty, those on the sanctions list first. */
async function chooseSecond(
  known: ReadonlySet<string>,
  first: readonly string[],
  { histories, isListed }: Pick<ExploreOptions, "isListed"> & { readonly histories: readonly CounterpartyHistory[] },
): Promise<{ readonly chosen: string[]; readonly behind: number }> {
  const lists = await Promise.all(
    first.map((address, at) => {
      const found = toCounterparties(address, histories[at]?.transfers ?? []);
      return listedFirst(
        found.filter((other) => !known.has(other.address)),
        isListed,
      );
    }),
  );
  const nearest = lists.flatMap((others) => others.slice(0, BOUNDS.eachSecond));
  const candidates = await listedFirst(nearest.sort(byWeight), isListed);
  const chosen = [...new Set(candidates.map(({ address }) => address))].slice(0, BOUNDS.nodes - known.size);
  return { chosen, behind: new Set(lists.flat().map(({ address }) => address)).size };
}

/** The members' labels, without duplicates. */
function toLabels(members: Neighbourhood["members"], histories: readonly Pick<MergedHistory, "labels">[]): Label[] {
  const addresses = new Set(members.map(({ address }) => address));
  return uniqueLabels(histories.flatMap(({ labels }) => labels).filter(({ address }) => addresses.has(address)));
}

function within(members: Neighbourhood["members"], lists: readonly (readonly Transfer[])[]): Transfer[] {
  const addresses = new Set(members.map(({ address }) => address));
  return mergeTransfers(lists).filter(({ from, to }) => from !== to && addresses.has(from) && addresses.has(to));
}
