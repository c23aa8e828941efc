import type { JobEnd, JobProgress, JobRecord } from "../../../core/jobs/records.ts";
import type { RefundStatus } from "../../../core/refunds/refunds.ts";
import { type Html, type HtmlPart, html } from "../html.ts";
import { toPaidAmount } from "./jobs.ts";
import { type Moment, toTimeLine } from "./life.ts";
import { toPayer } from "./sales.ts";
import type { ShopView } from "./view.ts";

/** What is recorded about a job. */
export interface JobView {
  readonly record: JobRecord;
  /** The steps that are done, oldest first; `at` is 0 when unknown. */
  readonly steps: readonly { readonly name: string; readonly at: number }[];
  readonly progress: JobProgress | undefined;
  readonly end: JobEnd | undefined;
  readonly refund: RefundStatus;
}

/** One job, step by step. Its input and its result belong to the buyer and are not shown. */
export function toJob({ rails, own }: ShopView, { record, steps, progress, end, refund }: JobView): Html {
  const { id, service, reservedAt, begun } = record;
  const isRunning = begun !== undefined && !end;
  const moments: Moment[] = [
    { at: reservedAt, what: "It was put on record" },
    ...(begun ? [{ at: begun.at, what: begun.payment ? "Its payment was settled" : "It was put in line" }] : []),
    ...steps.flatMap(({ name, at }) => (at > 0 ? [{ at, what: `Done: ${name}` }] : [])),
    ...(isRunning && progress ? [{ at: progress.at, what: `It is at: ${progress.step ?? "work"}` }] : []),
    ...(end
      ? [{ at: end.at, what: end.state === "DELIVERED" ? "It was delivered" : `It has failed: ${end.error}` }]
      : []),
  ];
  const payment = begun?.payment;
  const facts: readonly (readonly [string, HtmlPart | undefined])[] = [
    ["Id", html`<code>${id}</code>`],
    ["Service", html`<a href="/services/${encodeURIComponent(service)}">${service}</a>`],
    ["Paid", payment ? toPaidAmount(payment, rails) : undefined],
    ["Paid by", payment ? toPayer(payment.payer, own) : undefined],
    ["Paid back in", refund.refund_tx ? html`<code>${refund.refund_tx}</code>` : undefined],
    ["Refund", refund.refund_pending ? html`waits for you: <a href="/jobs">what is owed</a>` : undefined],
  ];
  return html`<h1>Job of ${service}</h1>
<p class="lead">${toState(record, end, progress)}. <a href="/sales?q=${encodeURIComponent(id)}">Its sale</a></p>
<h2>Its life</h2>
${toTimeLine(moments.toSorted((one, other) => one.at - other.at))}
<h2>Its facts</h2>
<dl class="facts">
${facts.map(([name, value]) => value !== undefined && html`<dt>${name}</dt><dd>${value}</dd>\n`)}</dl>`;
}

function toState({ begun }: JobRecord, end: JobEnd | undefined, progress: JobProgress | undefined): string {
  if (end) return end.state === "DELIVERED" ? "Delivered" : "Failed";
  if (!begun) return "Reserved, and not paid";
  return progress ? "At work" : "In line";
}
