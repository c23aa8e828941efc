import { type Html, html } from "../html.ts";
import { toTime } from "./figures.ts";

/** An event with its time. */
export interface Moment {
  /** Unix milliseconds. */
  readonly at: number;
  readonly what: string;
}

/** Events in order, with the time between them. */
export const toTimeLine = (moments: readonly Moment[]): Html => html`<ol class="life">
${moments.map(({ at, what }, place) => {
  const before = moments[place - 1];
  return html`<li><time datetime="${new Date(at).toISOString()}">${toTime(at)}</time> ${what}${before && html` <small>${toGap(at - before.at)}</small>`}</li>\n`;
})}</ol>`;

const MINUTE_MS = 60_000;

function toGap(ms: number): string {
  const sign = ms < 0 ? "-" : "+"; // The clocks of several machines may differ.
  const long = Math.abs(ms);
  if (long < 10_000) return `${sign}${long} ms`;
  if (long < 600_000) return `${sign}${Math.round(long / 1000)} s`;
  if (long < 600 * MINUTE_MS) return `${sign}${Math.round(long / MINUTE_MS)} min`;
  const hours = long / (60 * MINUTE_MS);
  return hours < 240 ? `${sign}${Math.round(hours)} h` : `${sign}${Math.round(hours / 24)} days`;
}
