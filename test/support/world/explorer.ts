import type { Question } from "./manners.ts";
import { type Mined, mine, type Payment } from "./payments.ts";
import { openWorldSource, type WorldSource, type WorldSourceOptions } from "./source.ts";

/** The data of a Blockscout explorer of Base. */
export interface ExplorerOptions extends Omit<WorldSourceOptions, "answer"> {
  readonly payments: readonly Payment[];
  /** Names of contracts, by address. */
  readonly names?: Readonly<Record<string, string>>;
  /** How many days the index is behind. */
  readonly lagDays?: number;
}

const PAGE = 50;

/** A Blockscout explorer (API v2) over HTTP: pages of 50, newest first; 404 for an unknown address. */
export async function openExplorer({
  payments,
  names = {},
  lagDays = 0,
  ...rest
}: ExplorerOptions): Promise<WorldSource> {
  const indexed = mine(payments, rest.clock.now()).filter(({ daysAgo }) => daysAgo >= lagDays);
  return openWorldSource({
    ...rest,
    answer({ name, query }) {
      const [, address = "", list = ""] = /^\/addresses\/(0x[0-9a-f]{40})\/([-a-z]+)$/i.exec(name) ?? [];
      const own = indexed.filter(({ from, to }) => [from, to].includes(address.toLowerCase()));
      if (own.length === 0 || !(list in LISTS)) return undefined;
      return toPage(LISTS[list as keyof typeof LISTS](own, names, address.toLowerCase()), query);
    },
  });
}

type Names = NonNullable<ExplorerOptions["names"]>;

const LISTS = {
  "token-transfers": (own: readonly Mined[], names: Names) =>
    own.filter(({ asset }) => asset === "USDC").map((mined) => ({ ...toItem(mined, names), ...toTokenPart(mined) })),
  transactions: (own: readonly Mined[], names: Names, address: string) =>
    own
      .filter(({ asset, from, isInternal }) => !isInternal && (asset === "ETH" || from === address))
      .map((mined) => ({ ...toItem(mined, names), ...toTransactionPart(mined) })),
  "internal-transactions": (own: readonly Mined[], names: Names) =>
    own
      .filter(({ asset, isInternal }) => asset === "ETH" && isInternal)
      .map((mined) => ({ ...toItem(mined, names), ...toInternalPart(mined) })),
} as const;

/** The requested page of a list, with the parameters of the next page. */
function toPage(oldestFirst: readonly object[], query: Question["query"]) {
  const items = query.get("order") === "asc" ? oldestFirst : oldestFirst.toReversed();
  const start = Number(query.get("items_count") ?? 0);
  const end = start + PAGE;
  const next = end < items.length ? { items_count: end } : null;
  return { items: items.slice(start, end), next_page_params: next };
}

const toItem = ({ from, to, at, block }: Mined, names: Names) => ({
  block_number: block,
  timestamp: new Date(at * 1000).toISOString(),
  from: toParty(from, names),
  to: toParty(to, names),
});

const toParty = (hash: string, names: Names) => ({
  hash,
  name: names[hash] ?? null,
  is_contract: hash in names,
  is_scam: false,
  metadata: null,
});

/** A USDC payment is a call of the token contract, without ETH. */
const toTransactionPart = ({ digest, units, asset }: Mined) => ({
  hash: `0x${digest}`,
  status: "ok",
  value: asset === "ETH" ? String(units) : "0",
});

const toTokenPart = ({ digest, logIndex, units }: Mined) => ({
  transaction_hash: `0x${digest}`,
  log_index: logIndex,
  total: { decimals: "6", value: String(units) },
});

const toInternalPart = ({ digest, logIndex, units }: Mined) => ({
  transaction_hash: `0x${digest}`,
  index: logIndex,
  type: "call",
  success: true,
  value: String(units),
});
