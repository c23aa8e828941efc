import type { OpenRefund } from "../../../core/refunds/records.ts";
import { toDecimal } from "../../../core/set/price.ts";
import { type Html, html } from "../html.ts";
import { toCount, toTime } from "./figures.ts";
import { toFigureTable, toLive } from "./frame.ts";
import { toShort } from "./sales.ts";
import type { ShopView } from "./view.ts";

export interface JobsState {
  /** Jobs in line or at work, in all processes, by service. */
  readonly inLine: ReadonlyMap<string, number>;
  readonly refunds: readonly OpenRefund[];
}

/** What waits and what is owed. */
export function toJobs({ rails }: ShopView, { inLine, refunds }: JobsState): Html {
  const manual = refunds.filter(({ state }) => state === "manual");
  const rows = [...refunds]
    .sort((one, other) => one.openedAt - other.openedAt)
    .map(({ id, service, payment, state, reason, openedAt, held }) => {
      const rail = rails.find(({ network, asset }) => network === payment.network && isSame(asset, payment.asset));
      const amount = rail
        ? `${toDecimal(BigInt(payment.amount), rail.decimals)} ${rail.symbol}`
        : `${payment.amount} of ${payment.asset}`;
      const status = held ? "paid, and watched" : state === "manual" ? "by hand" : "pays itself";
      return [
        toTime(openedAt),
        service,
        html`<code title="${id}">${toShort(id)}</code>`,
        amount,
        payment.payer ? html`<code>${payment.payer}</code>` : "unknown",
        status,
        reason ?? "",
      ];
    });
  return html`<h1>Jobs and refunds</h1>
${toLive(
  "_jobs",
  html`<h2>In line or at work</h2>
${toFigureTable(
  "Jobs in all processes",
  ["Service", "Jobs"],
  [...inLine].map(([service, count]) => [service, toCount(count)]),
)}
<h2>Owed</h2>
${toFigureTable("Refunds that are not over", ["Since", "Service", "Job", "Amount", "To", "How", "Why"], rows)}
${manual.length > 0 && html`<p>Those by hand: pay the amount back, and note it.</p>${manual.map(({ id }) => html`<pre>payphone refunds close ${id} --tx &lt;transaction&gt;</pre>`)}`}`,
)}
<p class="quiet">What has failed: <a href="/funnel">the funnel</a>. One job's payment: search for its id in <a href="/sales">the sales</a>.</p>`;
}

const isSame = (one: string, other: string): boolean => one === other || one.toLowerCase() === other.toLowerCase();
