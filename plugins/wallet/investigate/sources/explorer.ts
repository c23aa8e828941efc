import { Problem, type Upstream } from "#plugin";
import { USDC_ON_BASE } from "../../intel/evm-reads.ts";
import { readLabels, readNativeTransfers, readTime, readTokenTransfers } from "./explorer-items.ts";
import { type Depth, type HistorySource, mergeTransfers } from "./transfers.ts";

/** How many pages of 50 items are read of each list, newest first. */
const PAGES: Readonly<Record<Depth, number>> = { subject: 100, counterparty: 2 };

/** A list of an address (Blockscout API v2, /addresses/{hash}/…). */
interface Listing {
  readonly path: "token-transfers" | "transactions";
  readonly query: Readonly<Record<string, string>>;
  readonly pages: number;
}

/** The items that were read; `isWhole` when the list has no more. */
interface Listed {
  readonly items: readonly unknown[];
  readonly isWhole: boolean;
}

/**
 * A Blockscout explorer of Base: USDC and ETH transfers of any age, contract names and tags, and the first transaction.
 */
export function createExplorer(source: Upstream): HistorySource {
  return {
    title: source.title,
    async read(address, depth, signal) {
      const list = (listing: Listing): Promise<Listed> => readList(source, address, listing, signal);
      const pages = PAGES[depth];
      const [tokens, transactions, first] = await Promise.all([
        list({ path: "token-transfers", query: { type: "ERC-20", token: USDC_ON_BASE }, pages }),
        list({ path: "transactions", query: {}, pages }),
        list({ path: "transactions", query: { sort: "block_number", order: "asc" }, pages: 1 }),
      ]);
      const isWhole = tokens.isWhole && transactions.isWhole;
      return {
        transfers: mergeTransfers([
          tokens.items.flatMap(readTokenTransfers),
          [...transactions.items, ...first.items].flatMap(readNativeTransfers),
        ]),
        coverage: toCoverage(source.title, tokens, transactions),
        isWhole,
        labels: [...tokens.items, ...transactions.items].flatMap(readLabels),
        firstSeenAt: readTime(first.items[0]),
      };
    },
  };
}

/** Reads a list page by page; empty (404) for an unknown address. @throws Problem `upstream-failed` for any other answer. */
async function readList(source: Upstream, address: string, listing: Listing, signal: AbortSignal): Promise<Listed> {
  const items: unknown[] = [];
  let query: Record<string, string> | undefined = { ...listing.query };
  for (let page = 0; page < listing.pages && query; page += 1) {
    const answer = await source.get(`/addresses/${address}/${listing.path}`, { signal, query });
    if (answer.status === 404) return { items, isWhole: true };
    const body = answer.status === 200 ? (answer.json() as Partial<Page> | null) : undefined;
    if (!Array.isArray(body?.items)) {
      throw new Problem("upstream-failed", `${source.title} answered ${listing.path} with status ${answer.status}`);
    }
    items.push(...body.items);
    query = body.next_page_params ? { ...listing.query, ...toQuery(body.next_page_params) } : undefined;
  }
  return { items, isWhole: query === undefined };
}

interface Page {
  readonly items: readonly unknown[];
  readonly next_page_params: Readonly<Record<string, unknown>> | null;
}

const toQuery = (parameters: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(parameters).flatMap(([name, value]) => (value === null ? [] : [[name, String(value)]])),
  );

function toCoverage(title: string, tokens: Listed, transactions: Listed): string {
  const say = ({ items, isWhole }: Listed, what: string): string =>
    isWhole ? `all ${items.length} ${what}` : `the newest ${items.length} ${what}`;
  return `${title}: ${say(tokens, "USDC transfers")} and ${say(transactions, "transactions")} on Base (ETH that contracts sent is not among them).`;
}
