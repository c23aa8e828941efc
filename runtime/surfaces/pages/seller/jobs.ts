import type { FailedJob } from "../../../core/jobs/jobs.ts";
import type { QueuedJob } from "../../../core/jobs/queue.ts";
import { railOfToken } from "../../../core/rails/tokens.ts";
import type { OpenRefund } from "../../../core/refunds/records.ts";
import { toDecimal } from "../../../core/set/price.ts";
import { type Html, html } from "../html.ts";
import { toCount, toTime } from "./figures.ts";
import { toFigureTable, toLive } from "./frame.ts";
import { toShort } from "./sales.ts";
import type { ShopView } from "./view.ts";

/** A job that has not ended. */
export interface WaitingJob extends QueuedJob {
  /** Its progress text; null when it has reported none, undefined while it waits for its first turn. */
  readonly step?: string | null;
}

export interface JobsState {
  /** Jobs that wait or run, in all processes, by service. */
  readonly inLine: ReadonlyMap<string, number>;
  /** The oldest jobs that have not ended. */
  readonly waiting: readonly WaitingJob[];
  /** The newest failed jobs. */
  readonly failed: readonly FailedJob[];
  readonly refunds: readonly OpenRefund[];
  /** Whether more refunds are open than are in `refunds`. */
  readonly hasMoreRefunds: boolean;
}

/** The jobs that wait, run and failed, and the open refunds. */
export function toJobs(
  { rails, now }: ShopView,
  { inLine, waiting, failed, refunds, hasMoreRefunds }: JobsState,
): Html {
  const waits = [...inLine].filter(([, count]) => count > 0);
  return html`<h1>Jobs and refunds</h1>
${toLive(
  "_jobs",
  html`<h2>Owed</h2>
${toOwed(refunds, rails)}
${hasMoreRefunds && html`<p>These are ${toCount(refunds.length)} of them; <code>payphone refunds</code> lists all.</p>`}
<h2>In line or at work</h2>
${waits.length > 0 && html`<p>${waits.map(([service, count]) => `${service}: ${toCount(count)}`).join(", ")}, in all processes.</p>`}
${toFigureTable(
  "The oldest jobs that are not over",
  ["Job", "Service", "Paid", "Waits for", "Is at"],
  waiting.map(({ id, service, at, step }) => [
    toJobLink(id),
    service,
    toTime(at),
    toAge(now - at),
    step === undefined ? "in line" : (step ?? "at work"),
  ]),
  "No job waits.",
)}
<h2>Failed</h2>
${toFigureTable(
  "The newest jobs that have failed for good, of the last 90 days",
  ["Job", "Service", "When", "Why"],
  failed.map(({ id, service, at, error }) => [toJobLink(id), service, toTime(at), error]),
  "No job has failed.",
)}`,
)}
<p class="quiet">Calls that fail before they are a job: <a href="/funnel">the funnel</a>.</p>`;
}

const toJobLink = (id: string): Html =>
  html`<a href="/jobs/${encodeURIComponent(id)}"><code title="${id}">${toShort(id)}</code></a>`;

/** A duration for people: `3 min`. */
function toAge(ms: number): string {
  const minutes = Math.floor(Math.max(0, ms) / 60_000);
  if (minutes < 1) return `${Math.max(0, Math.floor(ms / 1000))} s`;
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`;
}

function toOwed(refunds: readonly OpenRefund[], rails: ShopView["rails"]): Html {
  const manual = refunds.filter(({ state }) => state === "manual");
  const rows = [...refunds]
    .sort((one, other) => one.openedAt - other.openedAt)
    .map(({ id, service, payment, state, reason, openedAt, held }) => {
      const waits = reason === null ? "pays itself" : "is not paid yet";
      const status = held ? "paid, and watched" : state === "manual" ? "by hand" : waits;
      return [
        toTime(openedAt),
        service,
        toJobLink(id),
        toPaidAmount(payment, rails),
        payment.payer ? html`<code>${payment.payer}</code>` : "unknown",
        status,
        reason ?? "",
      ];
    });
  return html`${toFigureTable("Refunds that are not over", ["Since", "Service", "Job", "Amount", "To", "How", "Why"], rows, "Nothing is owed.")}
${manual.length > 0 && html`<p>Those by hand: pay the amount back, and note it.</p>${manual.map(({ id }) => html`<pre tabindex="0">payphone refunds close ${id} --tx &lt;transaction&gt;</pre>`)}`}`;
}

/** The amount paid, in the token's own unit, or in atomic units when no rail of the site has the token. */
export function toPaidAmount(payment: OpenRefund["payment"], rails: ShopView["rails"]): string {
  const { asset, amount } = payment;
  const rail = railOfToken(rails, payment);
  return rail ? `${toDecimal(BigInt(amount), rail.decimals)} ${rail.symbol}` : `${amount} atomic units of ${asset}`;
}
