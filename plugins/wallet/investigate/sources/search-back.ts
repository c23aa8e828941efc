import { Problem } from "#plugin";
import { mergeTransfers, type Transfer } from "./transfers.ts";

/** A range of blocks, both ends included. */
export interface BlockRange {
  readonly from: bigint;
  readonly to: bigint;
}

/** The limits of a search. */
export interface Bounds {
  readonly searches: number;
  readonly transfers: number;
}

/** The result of a search. */
export interface SearchResult {
  readonly transfers: readonly Transfer[];
  /** The oldest searched block. */
  readonly since: bigint;
  /** Why older blocks were not searched; undefined when the whole range was. */
  readonly end: string | undefined;
}

/** Searches a range; `refused` when the node finds it too large. */
export type Search = (span: BlockRange) => Promise<readonly Transfer[] | "refused">;

/** The range per search, in blocks: widened after an answer, narrowed after a refusal. */
const SPAN = { first: 100_000n, most: 2_000_000n } as const;

/**
 * Searches from the newest block back to the oldest. A failure after the first answer ends the search with the result so
 * far. @throws Problem `upstream-failed` when every search was refused; the error of the first search.
 */
export async function searchBack(search: Search, range: BlockRange, bounds: Bounds): Promise<SearchResult> {
  let transfers: readonly Transfer[] = [];
  let since = range.to + 1n;
  const spans = createSpans();
  const isDone = (): boolean => since <= range.from || transfers.length >= bounds.transfers;
  for (let searches = 0; searches < bounds.searches && !isDone(); searches += 1) {
    const to = since - 1n;
    const from = to - spans.now() + 1n > range.from ? to - spans.now() + 1n : range.from;
    try {
      const found = await search({ from, to });
      spans.learn(found !== "refused");
      if (found === "refused") continue;
      transfers = mergeTransfers([found, transfers]);
      since = from;
    } catch (error) {
      if (since > range.to || !(error instanceof Problem)) throw error;
      return { transfers, since, end: error.message };
    }
  }
  if (since > range.to) throw new Problem("upstream-failed", "The Base node refuses to search its logs");
  const isCutShort = since > range.from || transfers.length > bounds.transfers;
  return { transfers: transfers.slice(-bounds.transfers), since, end: isCutShort ? BOUND_MET : undefined };
}

const BOUND_MET = "the bound of this investigation was met";

/** Adapts the range. After a refusal it grows again slowly: the limit may be the node's, or due to one busy month. */
function createSpans() {
  let [span, ceiling]: [bigint, bigint] = [SPAN.first, SPAN.most];
  return {
    now: () => span,
    learn(isAnswered: boolean): void {
      if (isAnswered) ceiling = smaller(ceiling + ceiling / 16n + 1n, SPAN.most);
      else ceiling = span / 2n;
      span = isAnswered ? smaller(span * 2n, ceiling) : span / 4n;
      if (span < 1n) span = 1n;
    },
  };
}

const smaller = (one: bigint, other: bigint): bigint => (one < other ? one : other);
