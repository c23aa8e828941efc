import { toLabel } from "../../sandbox/recordings/match.ts";
import type { Exchange, Recording } from "../../sandbox/recordings/recordings.ts";
import { toColumns } from "../columns.ts";
import type { Outcome } from "./exchange.ts";

/** What became of the exchanges of one recording. */
export interface Renewal {
  readonly recording: Recording;
  /** Of those that answer on a good day. */
  readonly outcomes: ReadonlyMap<Exchange, Outcome>;
}

/** What a report says besides. */
export interface Rest {
  /** Files, relative to the directory. */
  readonly written: readonly string[];
  /** Upstreams that have recordings, but no place in `_site.yaml`. */
  readonly unlisted: readonly string[];
}

const WORDS: Readonly<Record<Outcome["verdict"], string>> = {
  same: "same shape",
  changed: "changed shape",
  failed: "not recorded",
};
/** Of one exchange. */
const MOST_DETAILS = 30;

/** A row for each exchange, with its details below it, and a last line that counts. */
export function toReport(renewals: readonly Renewal[], { written, unlisted }: Rest): string {
  const rows = renewals.flatMap(({ recording: { upstream, file }, outcomes }) =>
    [...outcomes].map(([{ case: name, request }, { verdict, details }]) => ({
      cells: [`${upstream}/${file.slice(file.lastIndexOf("/") + 1)}`, name, toLabel(request), WORDS[verdict]],
      details,
    })),
  );
  const columns = toColumns(rows.map(({ cells }) => cells));
  const lines = rows.flatMap(({ details }, at) => [columns[at], ...toShort(details).map((detail) => `    ${detail}`)]);
  const left = unlisted.length > 0 ? [`not asked, because _site.yaml does not list them: ${unlisted.join(", ")}`] : [];
  return [...lines, ...left, toCount(renewals, written)].join("\n");
}

/** Of every exchange, in the report's order. */
export const verdictsOf = (renewals: readonly Renewal[]): Outcome["verdict"][] =>
  renewals.flatMap(({ outcomes }) => [...outcomes.values()].map(({ verdict }) => verdict));

function toShort(details: readonly string[]): readonly string[] {
  const more = details.length - MOST_DETAILS;
  return more <= 0 ? details : [...details.slice(0, MOST_DETAILS), `… and ${more} more`];
}

function toCount(renewals: readonly Renewal[], written: readonly string[]): string {
  const verdicts = verdictsOf(renewals);
  const count = (wanted: Outcome["verdict"]): number => verdicts.filter((verdict) => verdict === wanted).length;
  const counts = `${count("same")} of the same shape, ${count("changed")} changed, ${count("failed")} not recorded`;
  const files = written.length === 0 ? "no file written" : `written: ${written.join(", ")}`;
  return `${verdicts.length} exchanges: ${counts}; ${files}`;
}
