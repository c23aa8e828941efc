import type { BookLine } from "../../../core/books/books.ts";
import type { SaleAnswer } from "../../../core/notes/answers.ts";
import { explorerOf } from "../../../core/rails/tokens.ts";
import type { OpenRefund } from "../../../core/refunds/records.ts";
import { toDecimal } from "../../../core/set/price.ts";
import { type Html, type HtmlPart, html } from "../html.ts";
import { toTime, toUsdText } from "./figures.ts";
import { type Moment, toTimeLine } from "./life.ts";
import { toCoins, toLines, toPayer } from "./sales.ts";
import type { ShopView } from "./view.ts";

/** The steps of a sale, in order. Before the work was done, what is on record is the job or the work that is owed. */
const STEPS = [
  ["begun", "The call came with its payment"],
  ["reserved", "The payment was reserved for this call"],
  ["verified", "The payment was verified"],
  ["worked", "The work was done"],
  ["recorded", "The result was put on record", "What is owed was put on record"],
] as const;

/** What became of a sale, as far as the book does not tell. */
export interface SaleFate {
  readonly answer: SaleAnswer;
  readonly owed: Pick<OpenRefund, "openedAt" | "state"> | undefined;
}

type FateOf = (sale: BookLine) => Promise<SaleFate>;

/** One line of the book: its history, its facts, and the lines that belong to it. Undefined for an unknown id. */
export async function toSale(view: ShopView, id: string, fateOf: FateOf): Promise<Html | undefined> {
  const named = view.books.find(id);
  const line = named.find((each) => each.id === id);
  if (!line) return undefined;
  const found = named.filter((each) => lifeOf(each) === lifeOf(line)); // Buyers may choose its id for their request ids.
  const sale = line.kind === "sale" ? line : found.find((each) => each.id === line.of);
  const fate: SaleFate = sale ? await fateOf(sale) : { answer: {}, owed: undefined };
  const life = toLife(sale, found, fate);
  const others = found.filter((each) => each !== line);
  return html`<h1>${toKindName(line)} of ${line.service}</h1>
<p class="lead">${toUsdText(line.usd)}, ${toTime(line.at)}</p>
<h2>Its life</h2>
${toTimeLine(life)}
${!isOver(found, fate) && UNANSWERED}
<h2>Its facts</h2>
<dl class="facts">
${factsOf(line, view).map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>\n`)}</dl>
${others.length > 0 && html`<h2>What belongs to it</h2>\n${toLines(others.toReversed(), view)}`}`;
}

/** The id of the sale that a line belongs to, or is. */
const lifeOf = ({ id, of }: BookLine): string => of ?? id;

const toJobLink = (id: string): Html => html`<a href="/jobs/${encodeURIComponent(id)}"><code>${id}</code></a>`;

const toKindName = ({ kind }: BookLine): string => kind.charAt(0).toUpperCase() + kind.slice(1);

const isOver = (found: readonly BookLine[], { answer, owed }: SaleFate): boolean =>
  Object.keys(answer).length > 0 || owed !== undefined || found.some(({ kind }) => kind === "refund");

function toLife(sale: BookLine | undefined, found: readonly BookLine[], { answer, owed }: SaleFate): readonly Moment[] {
  const { times } = sale ?? {};
  const isOwed = times?.worked === undefined;
  const steps = STEPS.flatMap(([step, what, whatOwed = what]) =>
    times?.[step] === undefined ? [] : [{ at: times[step], what: isOwed ? whatOwed : what }],
  );
  const settled = sale ? [{ at: sale.at, what: "The settlement was known: it is a sale" }] : [];
  const later = found
    .filter(({ kind, of }) => kind !== "sale" && of === sale?.id)
    .map(({ at, kind }) => ({ at, what: AFTERWARDS[kind as keyof typeof AFTERWARDS] }));
  const failed = owed ? [{ at: owed.openedAt, what: OWED[owed.state] }] : [];
  return [...steps, ...settled, ...toAnswered(answer), ...failed, ...later].sort((one, other) => one.at - other.at);
}

function toAnswered({ sentAt, goneAt, later }: SaleAnswer): readonly Moment[] {
  const times = later?.count === 1 ? "once" : `${later?.count} times`;
  return [
    ...(sentAt === undefined ? [] : [{ at: sentAt, what: "The answer was sent" }]),
    ...(goneAt === undefined ? [] : [{ at: goneAt, what: "The answer was ready, but the buyer had gone" }]),
    ...(later ? [{ at: later.lastAt, what: `The buyer fetched the answer ${times}, at no charge; last` }] : []),
  ];
}

/** Shown when nothing is known about the answer. */
const UNANSWERED = html`<p class="quiet">No answer is on record: it was never fetched, its work has not succeeded so far, it was sent in the last
five seconds, or the sale is older than 90 days. Sending the same payment again gets the answer while it is kept.</p>`;

const OWED = {
  manual: "The work has failed: it waits to be paid back by hand",
  pending: "The work has failed: it is being paid back",
} as const;

const AFTERWARDS = {
  refund: "It was paid back",
  reversal: "The chain did not show the settlement: it does not count",
  restoration: "The chain shows the settlement after all: it counts again",
} as const;

/** Longer than any meaningful value. */
const LONGEST = 200;

const toCodeText = (text: string): Html =>
  html`<code>${text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text}</code>`;

function factsOf(line: BookLine, { books, rails, own, services, isSandbox }: ShopView): readonly [string, HtmlPart][] {
  const isJob = services.some(({ id, job }) => id === line.service && job !== undefined);
  const name = encodeURIComponent(line.transaction);
  const explorer = isSandbox ? undefined : explorerOf(rails, { ...line, transaction: name });
  const transaction: HtmlPart =
    explorer && line.transaction.length <= LONGEST
      ? html`<a href="${explorer}" rel="noreferrer">${toCodeText(line.transaction)}</a>`
      : toCodeText(line.transaction);
  const fee = books.fees([line]).get(line.seq);
  const isRefund = line.kind === "refund"; // Its transaction goes the other way.
  const facts: readonly [string, HtmlPart | null][] = [
    ["Id", toCodeText(line.id)],
    ["Amount", toCoins(line, rails)],
    ["Fee", fee !== undefined && `${toDecimal(BigInt(fee.amount), fee.decimals)} ${fee.symbol}, paid by the treasury`],
    [isRefund ? "Paid back to" : "Paid by", toPayer(line.payer, own)],
    ["Received at", !isRefund && line.receiver && toCodeText(line.receiver)],
    ["Rail", `${line.rail} (${line.network.slice(0, LONGEST)})`],
    ["Door", line.door],
    ["Transaction", transaction],
    ["Request id", line.requestId && toCodeText(line.requestId)],
    [isJob ? "Job" : "Work", line.job && (isJob ? toJobLink(line.job) : toCodeText(line.job))],
    ["Set", line.set && toCodeText(line.set)],
  ];
  return facts.filter((fact): fact is [string, HtmlPart] => fact[1] !== null && fact[1] !== false && fact[1] !== "");
}
