import { EVM_ADDRESS, SOLANA_ADDRESS, toAccount } from "../../../core/account.ts";
import { type BookLine, FOUND_MOST } from "../../../core/books/books.ts";
import { currencyOf } from "../../../core/rails/tokens.ts";
import { toDecimal } from "../../../core/set/price.ts";
import { type Html, type HtmlPart, html } from "../html.ts";
import { toTime, toUsdText } from "./figures.ts";
import { toFigureTable } from "./frame.ts";
import { LOOK_DAY_MS } from "./look.ts";
import type { ShopView } from "./view.ts";

export interface SalesQuery {
  /** A payer, transaction, request id, job, or the id of a line. */
  readonly text: string;
  readonly service?: string | undefined;
  /** The last line of the previous page: `<at>.<seq>`. */
  readonly after?: string | undefined;
}

const PAGE = 50;
/** How far back the lines of one service are listed. */
const SERVICE_MS = 30 * LOOK_DAY_MS;

/** The lines of the book, newest first, or the lines that match a search. */
export function toSales({ books, own, rails, look }: ShopView, { text, service, after }: SalesQuery): Html {
  // A request id, which the caller chooses, may have the form of a wallet.
  const isAddress = EVM_ADDRESS.test(toAccount(text)) || SOLANA_ADDRESS.test(text);
  const isPayer = isAddress && books.lines({ payer: text }, { limit: 1, order: "newest-first" }).length > 0;
  const isSearch = text !== "" && !isPayer;
  const page = { limit: PAGE + 1, order: "newest-first", after: toPlace(after) } as const;
  const payer = isPayer ? text : undefined;
  const found = isSearch
    ? books.find(text).toReversed()
    : books.lines({ payer, service, from: service === undefined ? undefined : look.span.to - SERVICE_MS }, page);
  const lines = isSearch ? found : found.slice(0, PAGE);
  const last = !isSearch && found.length > PAGE ? lines.at(-1) : undefined;
  const more = new URLSearchParams({ ...(text && { q: text }), ...(service && { service }) });
  if (last) more.set("after", `${last.at}.${last.seq}`);
  return html`<h1>Sales</h1>
<form class="search" action="/sales" role="search">
<label for="_q">A payer, transaction, request id or job</label>
<input id="_q" type="search" name="q" value="${text}" maxlength="200">
<button>Search</button>
</form>
${service !== undefined && html`<p>Of <strong>${service}</strong>, in the last 30 days. <a href="/sales">All services</a></p>`}
${lines.length === 0 && text !== "" ? html`<p>Nothing in the book has <code>${text}</code>.</p>` : toLines(lines, { own, rails })}
${isSearch && lines.length >= FOUND_MOST && html`<p>A search shows the oldest ${FOUND_MOST} lines at most: others are found by their payer or transaction.</p>`}
${last && html`<p><a class="button" href="/sales?${more.toString()}">Older</a></p>`}`;
}

function toPlace(text: string | undefined): { at: number; seq: number } | undefined {
  const [, at, seq] = /^(\d{1,15})\.(\d{1,15})$/.exec(text ?? "") ?? [];
  return at === undefined ? undefined : { at: Number(at), seq: Number(seq) };
}

export const toLines = (lines: readonly BookLine[], { own }: Pick<ShopView, "own" | "rails">): Html =>
  toFigureTable(
    "The book, newest first",
    ["When", "What", "Price", "Service", "Rail", "Payer", "Transaction"],
    lines.map((line) => [
      html`<a href="/sales/${encodeURIComponent(line.id)}">${toTime(line.at)}</a>`,
      line.kind === "sale" ? "sale" : html`<em>${line.kind}</em>`,
      `${line.kind === "refund" || line.kind === "reversal" ? "-" : ""}${toUsdText(line.usd)}`,
      line.service,
      `${line.rail}${line.door ? `, ${line.door}` : ""}`,
      toPayer(line.payer, own),
      toName(line.transaction),
    ]),
  );

/** Longer than any address or transaction; a facilitator may have reported anything. */
const LONGEST_NAME = 128;

/** A payer, linked to its other purchases. */
export function toPayer(payer: string | null, own: readonly string[]): HtmlPart {
  if (payer === null) return "unknown";
  const name = toName(payer);
  if (payer.length > LONGEST_NAME || !payer.isWellFormed()) return name;
  return html`<a href="/buyers/${encodeURIComponent(payer)}">${name}</a>${own.includes(toAccount(payer)) && " (yours)"}`;
}

/** The beginning and the end of a long name; the whole name is shown on hover. */
const toName = (text: string): Html => html`<code title="${text.slice(0, LONGEST_NAME)}">${toShort(text)}</code>`;

/** A long name shortened to its beginning and its end. */
export const toShort = (text: string): string => (text.length > 16 ? `${text.slice(0, 8)}…${text.slice(-6)}` : text);

/** An amount in the token's own unit. */
export function toCoins(line: BookLine, rails: ShopView["rails"]): string {
  const { amount, decimals } = line;
  return decimals === null
    ? `${amount} atomic units`
    : `${toDecimal(BigInt(amount), decimals)} ${currencyOf(rails, line)}`;
}
