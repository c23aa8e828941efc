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

/**
 * The search size that a node accepts: the blocks of the next search, and the most that it has accepted. Decimal text,
 * since a job step stores it.
 */
export interface Bearing {
  readonly span: string;
  readonly most: string;
}

export interface SearchResult {
  readonly transfers: readonly Transfer[];
  /** The oldest searched block. */
  readonly since: bigint;
  readonly bearing: Bearing;
}

/** A node's refusal of a search; `limit` is the number of blocks that its text names. */
export interface Refusal {
  readonly limit: bigint | undefined;
}

export type Search = (span: BlockRange) => Promise<readonly Transfer[] | Refusal>;

/** The blocks of a search: widened after an answer, narrowed after a refusal. */
export const FIRST_BEARING: Bearing = { span: "100000", most: "2000000" };
/** After this many refusals in a row, the node is assumed to refuse every search. */
const MOST_REFUSALS = 40;

/**
 * Searches from the newest block back to the oldest. A failure after the first answer ends the search with the result so
 * far. @throws Problem `upstream-failed` when every search was refused; the error of the first search.
 */
export async function searchBack(
  search: Search,
  { range, bounds, bearing: known = FIRST_BEARING }: SearchTerms,
): Promise<SearchResult> {
  const found: (readonly Transfer[])[] = [];
  let count = 0;
  let since = range.to + 1n;
  let refusals = 0;
  const spans = createSpans(known);
  const isDone = (): boolean => since <= range.from || count >= bounds.transfers;
  for (let searches = 0; searches < bounds.searches && !isDone(); searches += 1) {
    const span = spans.now();
    const to = since - 1n;
    const from = to - span + 1n > range.from ? to - span + 1n : range.from;
    try {
      const answer = await search({ from, to });
      if ("limit" in answer) {
        refusals += 1;
        if (refusals > MOST_REFUSALS) throw REFUSES;
        spans.narrow(answer.limit);
        continue;
      }
      refusals = 0;
      spans.widen();
      found.push(answer);
      count += answer.length;
      since = from;
    } catch (error) {
      if (since > range.to || !(error instanceof Problem)) throw error;
      break;
    }
  }
  if (since > range.to) throw REFUSES;
  return { transfers: mergeTransfers(found).slice(-bounds.transfers), since, bearing: spans.bearing() };
}

export interface SearchTerms {
  readonly range: BlockRange;
  readonly bounds: Bounds;
  readonly bearing?: Bearing;
}

const REFUSES = new Problem("upstream-failed", "The Base node refuses to search its logs");

/**
 * Adapts the number of blocks of a search. After a refusal that names no number, it grows again slowly, because one
 * busy month may have been the cause.
 */
function createSpans({ span: first, most: limit }: Bearing) {
  let [span, ceiling, most] = [BigInt(first), BigInt(limit), BigInt(limit)];
  return {
    now: () => span,
    bearing: (): Bearing => ({ span: String(span), most: String(most) }),
    widen(): void {
      ceiling = smaller(ceiling + ceiling / 16n + 1n, most);
      span = smaller(span * 2n, ceiling);
    },
    narrow(named: bigint | undefined): void {
      if (named !== undefined && named > 0n && named < span) {
        [span, ceiling, most] = [named, named, named];
        return;
      }
      ceiling = span / 2n;
      span = span > 4n ? span / 4n : 1n;
    },
  };
}

const smaller = (one: bigint, other: bigint): bigint => (one < other ? one : other);
