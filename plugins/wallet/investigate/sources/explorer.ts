import { type Clock, Problem, type Upstream } from "#plugin";
import { LISTINGS, type Listed, readListing } from "./explorer-lists.ts";
import { type Depth, type HistorySource, mergeTransfers } from "./transfers.ts";

/** How many pages of 50 items are read of each list, newest first. */
const PAGES: Readonly<Record<Depth, number>> = { subject: 100, counterparty: 2 };

/**
 * A Blockscout explorer of Base: USDC and ETH transfers of any age, contract names and tags. When a page fails, earlier
 * pages are kept, and the gap is named.
 */
export const createExplorer = (source: Upstream, clock: Clock): HistorySource => ({
  title: source.title,
  async read(address, reading) {
    const now = clock.now();
    const list = (name: keyof typeof LISTINGS, pages: number): Promise<Listed> =>
      readListing(source, address, { ...reading, listing: LISTINGS[name], pages, now });
    const pages = PAGES[reading.depth];
    const newest = await Promise.all([list("tokens", pages), list("transactions", pages), list("internals", pages)]);
    if (newest.every(({ count, gap }) => gap !== null && count === 0))
      throw new Problem("upstream-failed", newest[0].gap ?? undefined);
    const [tokens, transactions, internals] = newest;
    const isCut = !transactions.isWhole && reading.depth === "subject";
    const first = isCut ? [await list("first", 1)] : [];
    const lists = [...newest, ...first];
    const times = lists.flatMap(({ oldestAt }) => oldestAt ?? []);
    const oldestAt = times.length > 0 ? Math.min(...times) : null;
    const hasFirst = transactions.isWhole || first.some((page) => page.gap === null && isOlder(page, transactions));
    return {
      transfers: mergeTransfers(lists.map(({ transfers }) => transfers)),
      coverage: `${source.title}: ${newest.map(say).join(", ")} on Base.`,
      isWhole: newest.every(({ isWhole }) => isWhole),
      gaps: newest.flatMap(({ gap, name, count, odd }) => [
        ...(gap === null ? [] : [`Of its ${name} only the newest ${count} could be read: ${gap}`]),
        ...(odd === 0 ? [] : [`${odd} of its ${name} could not be understood`]),
      ]),
      labels: newest.flatMap(({ labels }) => labels),
      firstSeenAt: hasFirst && tokens.isWhole && internals.isWhole ? oldestAt : null,
      oldestAt,
      sent: transactions.isWhole ? transactions.sent : null,
      listed: newest.every(({ isWhole }) => isWhole) ? newest.reduce((sum, { count }) => sum + count, 0) : null,
    };
  },
});

/** Whether a list reaches further back than another one: an explorer may not sort as it is asked. */
const isOlder = (one: Listed, other: Listed): boolean =>
  one.oldestAt !== null && other.oldestAt !== null && one.oldestAt <= other.oldestAt;

const say = ({ name, count, isWhole }: Listed): string => `${isWhole ? "all" : "the newest"} ${count} ${name}`;
