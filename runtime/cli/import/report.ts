import { toColumns } from "../columns.ts";
import { printable } from "../printable.ts";
import type { LeftOut, UpstreamEntry } from "./imported.ts";
import type { AppliedImport } from "./shop/apply.ts";
import type { PartChange } from "./shop/merge.ts";
import type { FilePlan } from "./shop/plan.ts";
import { variablesOf } from "./variables.ts";

/** A service of a source, as a row of the table to choose from. */
export interface OfferRow {
  readonly name: string;
  /** `GET /pets`, or the word for a tool. */
  readonly call: string;
  readonly tags: readonly string[];
  readonly summary: string;
}

const MOST_LISTED = 20;
/** The most characters of a summary or value. */
const MOST_SHOWN = 60;
/** The most characters of a name: nobody types a longer one. */
export const LONGEST_NAME = 128;
/** How many tools the models behind MCP clients can choose from reliably. */
const MOST_TOOLS = 40;

/**
 * The table to choose from, and how to choose.
 * @param how the command line with a selection
 * @param refused what cannot be chosen
 */
export function toOfferTable(
  offers: readonly OfferRow[],
  what: string,
  how: readonly string[],
  refused: readonly LeftOut[] = [],
): string {
  const rows = offers.map(({ name, call, tags, summary }) => [
    shorten(name, LONGEST_NAME),
    call,
    tags.join(","),
    shorten(summary),
  ]);
  const table = toColumns([["NAME", "CALL", "TAGS", "WHAT"], ...rows]);
  const head = `${what} offers ${offers.length}; nothing is imported unless it is named:`;
  return toText([head, "", ...table, ...toRefusals(refused), "", ...how]);
}

/** The result of an import: what was written, what was omitted and why, and what to run next. */
export function toImportReport(applied: AppliedImport, isDryRun: boolean): string {
  const { services, refused, plans, site, leftovers, total, faults, imported } = applied;
  const all = [...site, ...plans];
  const isFirst = ({ file }: FilePlan, at: number, list: readonly FilePlan[]): boolean =>
    list.findIndex((other) => other.file === file) === at;
  const fresh = all.filter(({ isNew }) => isNew).filter(isFirst);
  const changed = all.filter(({ merged }) => merged.changes.length > 0);
  const derived = services.filter(({ isDerived }) => isDerived).length;
  const isSame = fresh.length + changed.length === 0;
  const subject = services.length === 1 ? "1 service" : `${services.length} services`;
  const files = `${fresh.length} ${fresh.length === 1 ? "file" : "files"}`;
  return toText([
    services.length === 0
      ? "nothing was written"
      : isSame
        ? `${subject}: nothing has changed`
        : isDryRun
          ? `${subject}: ${files} to write, ${changed.length} to change`
          : `${subject}: ${files} written, ${changed.length} changed`,
    ...toList(
      "  + ",
      fresh.map(({ file }) => file),
      "",
    ),
    ...all.flatMap(toDiff),
    ...leftovers.gone.map(
      (file) =>
        `  ${file} is no longer in the source; delete it: its calls will fail, uncharged or, where they are paid first, refunded`,
    ),
    ...leftovers.renamed.map(
      ({ file, now }) =>
        `  ${file} is ${now} in the source now; both send the same request: delete the one that is not wanted`,
    ),
    ...leftovers.schemas.map((file) => `  ${file} is used by nothing else any more; delete it, too`),
    ...toRefusals(refused),
    ...toNoteLines([
      ...(derived > 0 && !isSame
        ? [`made from the schema, because the source has none that fits: ${derived} of the examples; look at them`]
        : []),
      ...(total > MOST_TOOLS
        ? [
            `the shop has ${total} services: more than ${MOST_TOOLS} tools at /mcp are more than most models choose well from`,
          ]
        : []),
      ...(faults.length > 0 ? [`faults that the shop had before: ${faults.length}; see "payphone check"`] : []),
      ...imported.notesOn(new Set(services.map(({ manifest }) => manifest.id))),
    ]),
    ...(isDryRun || services.length === 0 ? [] : toNext(applied)),
  ]);
}

/** The first lines, and how many more there are. */
function toList(mark: string, lines: readonly string[], rest = "and "): string[] {
  const more = lines.length - MOST_LISTED;
  return [...lines.slice(0, MOST_LISTED), ...(more > 0 ? [`${rest}${more} more`] : [])].map((line) => mark + line);
}

function toDiff({ file, merged: { changes, kept } }: FilePlan): string[] {
  if (changes.length + kept.length === 0) return [];
  const toLine = ({ name, before, after }: PartChange): string => `${name}: ${toShort(before)} -> ${toShort(after)}`;
  return [
    `  ${file}`,
    ...changes.map((change) => `    ${toLine(change)}`),
    ...kept.map(
      ({ name, before, after }) => `    ${name}: yours stays, ${toShort(before)}; the source says ${toShort(after)}`,
    ),
  ];
}

function toRefusals(refused: readonly LeftOut[]): string[] {
  if (refused.length === 0) return [];
  const lines = refused.map(({ name, reason }) => `${shorten(name, LONGEST_NAME)}: ${reason}`);
  return ["", `${refused.length} left out:`, ...toList("  - ", lines)];
}

const toNoteLines = (notes: readonly string[]): string[] =>
  notes.length === 0 ? [] : ["", ...toList("note: ", notes)];

function toNext({ services, upstreams }: AppliedImport): string[] {
  const [first] = services;
  const variables = new Set(upstreams.flatMap(toVariables));
  const [example] = (first?.manifest.examples ?? []) as readonly { readonly input: unknown }[];
  const input = JSON.stringify(example?.input ?? {});
  return [
    "",
    "Next:",
    ...[...variables].map((line) => `  ${line}`),
    "  npx payphone check",
    "  npx payphone sandbox --online",
    `  npx payphone call ${first?.manifest.id} ${input.length <= 120 ? quote(input) : "'{ ... }'"}`,
  ];
}

const toVariables = (entry: UpstreamEntry): string[] =>
  variablesOf(entry).map(({ name, what }) => `set ${name}, ${what} (in the environment or in .env)`);

/** Lines for a terminal, without control characters: names from a source cannot move the cursor or break a line. */
const toText = (lines: readonly string[]): string => lines.map(printable).join("\n");

/** A command line for a POSIX shell; what is undefined is left out. */
export const toCommandLine = (...words: readonly (string | undefined)[]): string =>
  words.flatMap((word) => (word === undefined ? [] : [/^[\w@%+=:,./-]+$/.test(word) ? word : quote(word)])).join(" ");

/** Quotes a text for a POSIX shell. */
export const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function toShort(value: unknown): string {
  return value === undefined ? "nothing" : shorten(JSON.stringify(value) ?? "nothing");
}

const shorten = (text: string, most = MOST_SHOWN): string => {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > most ? `${line.slice(0, most - 3)}...` : line;
};
