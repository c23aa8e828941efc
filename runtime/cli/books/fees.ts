import { withNoun } from "../../api/text.ts";
import type { Books, Grouping, LineFilter } from "../../core/books/books.ts";
import type { BookFee, FeeGroup, FeeSum } from "../../core/books/fees.ts";
import { networkNameOf } from "../../core/rails/networks.ts";
import { toDecimal } from "../../core/set/price.ts";

/** `0.00012 POL`. */
export const toFeeText = ({ amount, decimals, symbol }: BookFee): string =>
  `${toDecimal(BigInt(amount), decimals)} ${symbol}`;

const PAGE = 500;
/** The latest time of a Date, in milliseconds. */
const FOREVER = 8.64e15;

const toSpan = ({ from = 0, to = FOREVER }: LineFilter): { readonly from: number; readonly to: number } => ({
  from,
  to,
});

/** Fees have no service and no payer, so they are shown only when the filter names neither. */
const isOfAll = ({ service, payer }: LineFilter): boolean => (service ?? payer) === undefined;

/**
 * Returns a function that gives the fees that belong to no line, oldest first. Each call gives those before a time that
 * were not given yet.
 */
export function createLoneFees(books: Books, filter: LineFilter): (before: number) => readonly BookFee[] {
  let read: BookFee[] = [];
  let last: BookFee | undefined;
  let isOver = !isOfAll(filter) || filter.rail !== undefined;
  return (before) => {
    const due: BookFee[] = [];
    for (;;) {
      if (read.length === 0 && !isOver) {
        const page = books.loneFees(toSpan(filter), { limit: PAGE, after: last });
        last = page.at(-1) ?? last;
        isOver = page.length < PAGE;
        read = page.filter((fee) => isLone(books, fee));
      }
      const count = read.findIndex(({ at }) => at >= before);
      due.push(...read.splice(0, count < 0 ? read.length : count));
      if (read.length > 0 || isOver) return due;
    }
  };
}

/**
 * Fees from earlier versions all have the purpose `other`, even those of a sale or a refund. A reverted transaction has a
 * line when a facilitator reported its settlement.
 */
const isLone = (books: Books, { purpose, transaction, network, isReverted }: BookFee): boolean =>
  (purpose !== "other" && !isReverted) ||
  books.fees(books.find(transaction).filter((line) => line.transaction === transaction && line.network === network))
    .size === 0;

/** The fees of a filter by group. Those of no line have no service and no payer: their group is empty. */
export function feesByGroup(books: Books, filter: LineFilter, by: Grouping): readonly FeeGroup[] {
  const lone = createLoneFees(
    books,
    filter,
  )(Number.POSITIVE_INFINITY).map((fee) => ({
    ...fee,
    amount: BigInt(fee.amount),
    group: by === "day" ? new Date(fee.at).toISOString().slice(0, 10) : "",
  }));
  return [...books.feeGroups(filter, by), ...lone];
}

/** The fees that the treasury paid in the filter's span: one sentence for each network. */
export function toFeeSummary(books: Books, filter: LineFilter, network: string | undefined): readonly string[] {
  if (!isOfAll(filter)) return [];
  const sums = books.feeSums(toSpan(filter)).filter((sum) => (network ?? sum.network) === sum.network);
  return [...Map.groupBy(sums, ({ network: of }) => of).values()].map(toSentence);
}

function toSentence(sums: readonly FeeSum[]): string {
  const { network, symbol, decimals } = sums[0] as FeeSum;
  const count = (some: readonly FeeSum[]): number => some.reduce((total, sum) => total + sum.count, 0);
  const amount = sums.reduce((total, sum) => total + sum.amount, 0n);
  const reverted = count(sums.filter(({ isReverted }) => isReverted));
  const lost = reverted > 0 ? `, ${reverted} of them reverted` : "";
  const transactions = withNoun(count(sums), "transaction");
  return `Fees paid by the treasury on ${networkNameOf(network)}: ${toDecimal(amount, decimals)} ${symbol} (${transactions}${lost}).`;
}
