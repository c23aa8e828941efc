import { isDeepStrictEqual } from "node:util";
import { Problem, type Upstream } from "#plugin";
import { toJsonFields } from "../../fields.ts";
import { USDC_ON_BASE } from "../../intel/evm-reads.ts";
import {
  isOtherToken,
  isPossible,
  keyOf,
  type ReadItem,
  readInternalTransfers,
  readLabels,
  readNativeTransfers,
  readSender,
  readTime,
  readTokenTransfers,
} from "./explorer-items.ts";
import { toFailure } from "./failure.ts";
import { type Label, mergeTransfers, type Reading, type Transfer } from "./transfers.ts";

/** A list of an address (Blockscout API v2, /addresses/{hash}/…), newest first unless its query says otherwise. */
interface Listing {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** What its items are, for people. */
  readonly name: string;
  readonly toTransfers: ReadItem;
}

/** The lists of an address. */
export const LISTINGS = {
  tokens: {
    path: "token-transfers",
    query: { type: "ERC-20", token: USDC_ON_BASE },
    name: "USDC transfers",
    toTransfers: readTokenTransfers,
  },
  transactions: { path: "transactions", query: {}, name: "transactions", toTransfers: readNativeTransfers },
  internals: {
    path: "internal-transactions",
    query: {},
    name: "transfers of ETH by contracts",
    toTransfers: readInternalTransfers,
  },
  first: {
    path: "transactions",
    query: { sort: "block_number", order: "asc" },
    name: "first transactions",
    toTransfers: readNativeTransfers,
  },
} as const satisfies Readonly<Record<string, Listing>>;

/** The part of a list that was read. Plain JSON, because a job step stores it. */
export interface Listed {
  readonly name: string;
  readonly transfers: readonly Transfer[];
  readonly labels: readonly Label[];
  /** How many items were read, and how many of them the address has sent. */
  readonly count: number;
  readonly sent: number;
  /** How many items are of another form, so that what they moved is not known. */
  readonly odd: number;
  /** The time of the oldest item, in Unix seconds. */
  readonly oldestAt: number | null;
  /** Whether the list was read to its end, and understood. */
  readonly isWhole: boolean;
  /** Why the rest could not be read; null when there is no rest, or it was not wanted. */
  readonly gap: string | null;
}

interface Pages extends Omit<Listed, "name" | "isWhole" | "gap"> {
  /** How many pages these are. */
  readonly pages: number;
  /** The query of the next page; null after the last one. */
  readonly next: Readonly<Record<string, string>> | null;
}

interface ListingTerms {
  readonly listing: Listing;
  readonly pages: number;
  /** Unix milliseconds. */
  readonly now: number;
}

/** How many pages of 50 items one step reads. */
const PAGES_PER_STEP = 10;

/**
 * Reads a list page by page. A failed page ends the reading; earlier pages are kept, and the gap is named. @throws only
 * the signal's reason and failures of steps.
 */
export async function readListing(
  source: Upstream,
  address: string,
  { listing, pages, now, signal, step }: ListingTerms & Reading,
): Promise<Listed> {
  const parts: Pages[] = [];
  const seen = new Set<string>();
  let next: Pages["next"] = listing.query;
  for (let left = pages; left > 0 && next; left -= parts.at(-1)?.pages ?? PAGES_PER_STEP) {
    const query = next;
    const most = Math.min(left, PAGES_PER_STEP);
    const read = (): Promise<Pages> =>
      readPages(source, `/addresses/${address}/${listing.path}`, { listing, query, most, seen, now, signal });
    const part = await step(`${listing.name} ${parts.length + 1}`, read).catch(toFailure);
    signal.throwIfAborted();
    if (part instanceof Problem) return toListed(listing, parts, { isEnded: false, gap: part.message });
    parts.push(part);
    next = part.next;
  }
  return toListed(listing, parts, { isEnded: next === null, gap: null });
}

function toListed(
  { name }: Listing,
  parts: readonly Pages[],
  { isEnded, gap }: { readonly isEnded: boolean; readonly gap: string | null },
): Listed {
  const times = parts.flatMap(({ oldestAt }) => oldestAt ?? []);
  const odd = parts.reduce((sum, { odd }) => sum + (odd ?? 0), 0); // A job's parts may be of an earlier version.
  return {
    name,
    transfers: mergeTransfers(parts.map(({ transfers }) => transfers)),
    labels: parts.flatMap(({ labels }) => labels),
    count: parts.reduce((sum, { count }) => sum + count, 0),
    sent: parts.reduce((sum, { sent }) => sum + sent, 0),
    odd,
    oldestAt: times.length > 0 ? Math.min(...times) : null,
    isWhole: isEnded && odd === 0,
    gap,
  };
}

interface PagesOptions {
  readonly listing: Listing;
  readonly query: Readonly<Record<string, string>>;
  readonly most: number;
  /** The items of earlier pages, by `keyOf`. */
  readonly seen: Set<string>;
  /** Unix milliseconds. */
  readonly now: number;
  readonly signal: AbortSignal;
}

/**
 * Reads up to the limit, the end, or a failure after the first page. @throws Problem `upstream-failed` when the first
 * page fails.
 */
async function readPages(source: Upstream, path: string, { most, query, now, ...terms }: PagesOptions): Promise<Pages> {
  const { listing } = terms;
  const items: unknown[] = [];
  let pages = 0;
  let next: Pages["next"] = query;
  for (; pages < most && next; pages += 1) {
    const found: Page | Problem = await readPage(source, path, { ...terms, query: next }).catch(toFailure);
    if (found instanceof Problem) {
      if (pages === 0) throw found;
      break;
    }
    items.push(...found.items.filter((item) => !isOtherToken(item)));
    next = found.next;
  }
  const isDated = (item: unknown): boolean => isPossible(readTime(item) ?? now / 1000, now);
  const times = items.filter(isDated).flatMap((item) => readTime(item) ?? []);
  const isOwn = (address: string): boolean => path.toLowerCase().includes(address);
  const read = items.map((item) => (isDated(item) ? listing.toTransfers(item) : undefined));
  return {
    transfers: read.flatMap((some) => some ?? []).filter(({ from, to }) => isOwn(from) || isOwn(to)),
    labels: uniqueLabels(items.flatMap(readLabels)),
    pages,
    count: items.length,
    sent: items.filter((item) => isOwn(readSender(item) ?? "?")).length,
    odd: read.filter((some) => some === undefined).length,
    oldestAt: times.length > 0 ? times.reduce((least, time) => Math.min(least, time)) : null,
    next,
  };
}

interface Page extends Pick<Pages, "next"> {
  readonly items: readonly unknown[];
}

/**
 * A page; empty for an unknown address (404 to the first one).
 * @throws Problem `upstream-failed` when the answer is not a list, or when the page repeats, as when a query is ignored.
 */
async function readPage(
  source: Upstream,
  path: string,
  { listing, query, seen, signal }: Omit<PagesOptions, "most" | "now">,
): Promise<Page> {
  const answer = await source.get(path, { signal, query });
  if (answer.status === 404 && query === listing.query) return { items: [], next: null };
  const { items, next_page_params: more } = toJsonFields(answer.status === 200 && answer.json());
  const list = path.split("/").at(-1);
  if (!Array.isArray(items))
    throw new Problem("upstream-failed", `${source.title} answered ${list} with status ${answer.status}`);
  const next = more ? { ...listing.query, ...toQuery(toJsonFields(more)) } : null;
  const keys = items.map(keyOf);
  if (isDeepStrictEqual(next, query) || (keys.length > 0 && keys.every((key) => seen.has(key))))
    throw new Problem("upstream-failed", `${source.title} answered ${list} with the same page again`);
  for (const key of keys) seen.add(key);
  return { items, next };
}

const toQuery = (parameters: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(parameters).flatMap(([name, value]) => (value === null ? [] : [[name, String(value)]])),
  );

/** Labels without duplicates. */
export const uniqueLabels = (labels: readonly Label[]): Label[] => [
  ...new Map(labels.map((label) => [`${label.address} ${label.label}`, label])).values(),
];
