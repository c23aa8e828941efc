import { setFlagsFromString } from "node:v8";
import { Problem } from "../../api/problem.ts";
import type { BookLine, Grouping, LineFilter } from "../../core/books/books.ts";
import { forgetBefore } from "../../core/books/keeping.ts";
import { didYouMean } from "../../core/set/did-you-mean.ts";
import type { Config } from "../config/config.ts";
import { findLostBooks } from "../monitor/lost-books.ts";
import { printable } from "../printable.ts";
import type { Terminal } from "../terminal.ts";
import { createCsv, createGroupCsv } from "./csv.ts";
import { createLoneFees, feesByGroup, toFeeSummary } from "./fees.ts";
import { toGroupRows } from "./groups.ts";
import { toSaleJson } from "./json.ts";
import { type BookPlace, type LentBook, withBooks } from "./place.ts";
import { sumUp } from "./sum-up.ts";
import { toGroupTable, toLineTable, toSummary } from "./text.ts";

/** The command line of `payphone sales`. */
export interface SalesCommand extends BookPlace {
  readonly filter: LineFilter;
  readonly format: "text" | "json" | "csv";
  readonly group?: Exclude<Grouping, "all"> | undefined;
}

/** How many lines are read at once: this takes some milliseconds and a few megabytes. */
const PAGE = 500;
/** How many lines are printed for people. */
const MOST_SHOWN = 50;

/** Prints the lines of a book, oldest first, or their sums. @throws Problem `bad-request`, `unavailable`, also when interrupted. */
export function listSales(config: Config, command: SalesCommand, terminal: Terminal): Promise<void> {
  return withBooks(config, command, async (shop) => {
    if (shop.sandboxDir !== undefined) terminal.err("The sandbox's book: play money.");
    for (const { what } of findLostBooks(shop.store.dataDir)) terminal.err(what);
    noteUnknown(shop, command.filter, terminal);
    const { books } = shop.site;
    if ((command.filter.from ?? Number.POSITIVE_INFINITY) < forgetBefore(books, Date.now()))
      terminal.err(`books.keep_days is ${books?.keep_days}: earlier sales are not kept`);
    if (command.group) printGroups(shop, command, terminal);
    else if (command.format === "text") printNewest(shop, command, terminal);
    else await printAll(shop, command, terminal);
  });
}

/** Says which names of a filter nothing was sold under, and what was meant by a typing error. */
function noteUnknown({ books, site, own }: LentBook, { service, rail }: LineFilter, { err }: Terminal): void {
  if (service === undefined && rail === undefined) return;
  const sold = sumUp(books, {}, { own, by: "service" });
  const rails = [...site.rails.map(({ id }) => id), ...sold.flatMap((sum) => sum.rail ?? [])];
  for (const [what, name, known] of [
    ["service", service, sold.map(({ group }) => group)],
    ["rail", rail, rails],
  ] as const)
    if (name !== undefined && !known.includes(name))
      err(`The book has nothing of the ${what} "${printable(name)}"${didYouMean(name, known)}`);
}

function printGroups({ books, site, own }: LentBook, { filter, format, group }: SalesCommand, { out }: Terminal): void {
  const by = group as Grouping;
  const rows = toGroupRows(sumUp(books, filter, { own, by }), feesByGroup(books, filter, by), site.rails);
  if (format === "json") for (const row of rows) out(JSON.stringify({ [by]: row.group, ...row, group: undefined }));
  else if (format === "csv") out(createGroupCsv(by)(rows).slice(0, -"\n".length));
  else out(rows.length > 0 ? toGroupTable(by, rows) : NOTHING);
}

function printNewest({ books, site, own }: LentBook, { filter }: SalesCommand, { out }: Terminal): void {
  const lines = books.lines(filter, { limit: MOST_SHOWN, order: "newest-first" });
  const rail = site.rails.find(({ id }) => id === filter.rail);
  const isKnown = filter.rail === undefined || rail !== undefined;
  const spent = isKnown ? toFeeSummary(books, filter, rail?.network).join("\n") : "";
  if (lines.length === 0) {
    out([NOTHING, spent].join("\n").trimEnd());
    return;
  }
  const sums = sumUp(books, filter, { own, by: "all" });
  const count = sums.reduce((total, sum) => total + sum.count, 0);
  out(toLineTable(lines, site.rails, own));
  if (count > lines.length) out(`… and ${count - lines.length} older lines: --csv and --json have all`);
  out([toSummary(sums), spent].join("\n").trimEnd());
}

const NOTHING = "nothing was sold";

async function printAll(
  { books, site, own }: LentBook,
  { filter, format }: SalesCommand,
  { signal }: Terminal,
): Promise<void> {
  setFlagsFromString("--memory-saver-mode"); // Otherwise V8 lets garbage grow with the number of lines.
  const csv = createCsv(site.rails, own);
  const loneFees = createLoneFees(books, filter);
  function toText(page: readonly BookLine[]): string {
    const fees = books.fees(page);
    if (format === "csv") {
      const isLast = page.length < PAGE;
      return csv.rows(page, fees, loneFees(isLast ? Number.POSITIVE_INFINITY : (page.at(-1) as BookLine).at));
    }
    return page.map((line) => `${toSaleJson(line, own, fees.get(line.seq))}\n`).join("");
  }
  if (format === "csv") await write(csv.head);
  for (let after: BookLine | undefined; ; ) {
    const page = books.lines(filter, { limit: PAGE, order: "oldest-first", after });
    await write(toText(page));
    after = page.at(-1);
    if (page.length < PAGE) return;
    if (signal.aborted) throw new Problem("unavailable", "Interrupted: this is not the whole list");
  }
}

/**
 * Waits until the reader has taken the text, so that output does not pile up in memory. Ends when the reader is gone.
 */
async function write(text: string): Promise<void> {
  if (text === "" || process.stdout.write(text)) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = (): void => resolve();
  process.stdout.once("drain", done).once("close", done).once("error", done);
  await promise;
  for (const event of ["drain", "close", "error"]) process.stdout.off(event, done);
}
