import type { Span } from "../../../core/books/books.ts";
import type { FeeSum } from "../../../core/books/fees.ts";
import { networkNameOf } from "../../../core/rails/networks.ts";
import { toDecimal } from "../../../core/set/price.ts";
import { type Html, html } from "../html.ts";
import { toCount } from "./figures.ts";
import { toFigureTable } from "./frame.ts";
import type { ShopView } from "./view.ts";

/** The chain fees that the treasury paid, compared with the previous span; false when it paid none. */
export function toFeesPaid({ books, look }: ShopView): Html | false {
  const [now, before] = [sumsOf(look.span), sumsOf(look.before)];
  const networks = [...new Set([...now.keys(), ...before.keys()])];
  if (networks.length === 0) return false;
  const rows = networks.map((network) => {
    const [sums, then] = [now.get(network) ?? [], before.get(network) ?? []];
    const reverted = sums.filter(({ isReverted }) => isReverted);
    const coins = toCoins(sums, then);
    const [count, lost] = [countOf(sums), countOf(reverted)].map(toCount);
    return [networkNameOf(network), coins(sums), count, lost, coins(reverted), coins(then)];
  });
  const heads = ["Chain", "Paid", "Transactions", "Reverted", "Paid for those", `Paid ${look.beforeWords}`];
  return html`<h2>Fees that the treasury paid</h2>
${toFigureTable(`For settlements, refunds and anchors ${look.words}, in each chain's own coin`, heads, rows)}`;

  function sumsOf(span: Span): ReadonlyMap<string, readonly FeeSum[]> {
    return Map.groupBy(books.feeSums(span), ({ network }) => network);
  }
}

const countOf = (sums: readonly FeeSum[]): number => sums.reduce((all, { count }) => all + count, 0);

/** @param known the chain's sums of both spans; at least one is not empty */
function toCoins(...known: readonly (readonly FeeSum[])[]): (sums: readonly FeeSum[]) => string {
  const { symbol, decimals } = known.flat()[0] as FeeSum;
  return (sums) => {
    const amount = sums.reduce((all, sum) => all + sum.amount, 0n);
    return `${toDecimal(round(amount), decimals)} ${symbol}`;
  };
}

/** Rounds to six digits; `payphone sales --csv` has all of them. */
function round(amount: bigint): bigint {
  const scale = 10n ** BigInt(Math.max(0, amount.toString().length - 6));
  return ((amount + scale / 2n) / scale) * scale;
}
