import { Problem } from "#plugin";
import { mergeTransfers, type Transfer } from "./transfers.ts";

/** Blocks, the first and the last included. */
export interface Span {
  readonly from: bigint;
  readonly to: bigint;
}

/** How much is searched at most. */
export interface Bounds {
  readonly searches: number;
  readonly transfers: number;
}

/** What was found. */
export interface Found {
  readonly transfers: readonly Transfer[];
  /** The oldest block that was searched. */
  readonly since: bigint;
  /** Why older blocks were not searched; undefined when all were that should be. */
  readonly end: string | undefined;
}

/** Searches some blocks; a node may refuse, because they are too many or hold too much. */
export type Search = (span: Span) => Promise<readonly Transfer[] | "refused">;

/** Nodes differ in how wide a search may be: it is widened while they bear it, and narrowed when they refuse. */
const SPAN = { first: 100_000n, most: 2_000_000n } as const;

/**
 * Searches from the newest block back to the oldest. A node that fails on the way ends the search with what was found.
 * @throws Problem `upstream-failed` when not even the newest blocks could be searched; what `search` throws at first.
 */
export async function searchBack(search: Search, range: Span, bounds: Bounds): Promise<Found> {
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

/** How wide the next search is. What was refused is approached again slowly: a node's limit stays, a busy month ends. */
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
