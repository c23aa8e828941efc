import { withNoun } from "../../api/text.ts";
import type { Manifest } from "../../core/set/manifest.ts";
import { toLabel } from "../../sandbox/recordings/match.ts";
import type { RecordedExchange, Recording } from "../../sandbox/recordings/recordings.ts";
import { toColumns } from "../columns.ts";
import { printableLines } from "../printable.ts";
import type { Comparison } from "./exchange.ts";

/** The comparisons of one recording. */
export interface Renewal {
  readonly recording: Recording;
  /** By the exchanges that were repeated. */
  readonly comparisons: ReadonlyMap<RecordedExchange, Comparison>;
}

/** Further facts for the report. */
export interface Rest {
  /** Files, relative to the directory. */
  readonly written: readonly string[];
  /** Ids of upstreams that have recordings but are not in `_site.yaml`. */
  readonly unlisted: readonly string[];
  /** The services whose requests must not be repeated. */
  readonly unasked: readonly Pick<Manifest, "id">[];
}

/** Of a service that `hints` call destructive. */
export const toUnasked = ({ id }: Pick<Manifest, "id">): string =>
  `${id}: not asked, because its hints say that it can destroy something`;

const WORDS: Readonly<Record<Comparison["verdict"], string>> = {
  same: "same shape",
  changed: "changed shape",
  failed: "not recorded",
};
/** Details shown for one exchange. */
const MOST_DETAILS = 30;

/** One line for each exchange with its details below, and a last line with the totals. */
export function toRecordReport(renewals: readonly Renewal[], { written, unlisted, unasked }: Rest): string {
  const rows = renewals.flatMap(({ recording: { upstream, file }, comparisons }) =>
    [...comparisons].map(([{ case: name, request }, { verdict, details }]) => ({
      cells: [`${upstream}/${file.slice(file.lastIndexOf("/") + 1)}`, name, toLabel(request), WORDS[verdict]],
      details,
    })),
  );
  const columns = toColumns(rows.map(({ cells }) => cells));
  const lines = rows.flatMap(({ details }, at) => [columns[at], ...toShort(details).map((detail) => `    ${detail}`)]);
  const left = unlisted.length > 0 ? [`not asked, because _site.yaml does not list them: ${unlisted.join(", ")}`] : [];
  const all = [...lines, ...unasked.map(toUnasked), ...left, toCount(renewals, written)];
  return printableLines(all.join("\n")); // Names of fields are the sources'.
}

/** The verdict on each exchange, in the report's order. */
export const verdictsOf = (renewals: readonly Renewal[]): Comparison["verdict"][] =>
  renewals.flatMap(({ comparisons }) => [...comparisons.values()].map(({ verdict }) => verdict));

function toShort(details: readonly string[]): readonly string[] {
  const more = details.length - MOST_DETAILS;
  return more <= 0 ? details : [...details.slice(0, MOST_DETAILS), `… and ${more} more`];
}

function toCount(renewals: readonly Renewal[], written: readonly string[]): string {
  const verdicts = verdictsOf(renewals);
  const count = (wanted: Comparison["verdict"]): number => verdicts.filter((verdict) => verdict === wanted).length;
  const counts = `${count("same")} of the same shape, ${count("changed")} changed, ${count("failed")} not recorded`;
  const files = written.length === 0 ? "no file written" : `written: ${written.join(", ")}`;
  return `${withNoun(verdicts.length, "exchange")}: ${counts}; ${files}`;
}
