import { Problem } from "../../api/problem.ts";
import { type BookLine, FOUND_MOST } from "../../core/books/books.ts";
import type { BookFee } from "../../core/books/fees.ts";
import { explorerOf } from "../../core/rails/tokens.ts";
import type { RailManifest } from "../../core/set/manifest.ts";
import type { Store } from "../../core/store.ts";
import { openStore } from "../../drivers/store/open-store.ts";
import { toColumns } from "../columns.ts";
import type { Config } from "../config/config.ts";
import { readSaleFate } from "../monitor/sale-fate.ts";
import { printable, printableJson } from "../printable.ts";
import type { Terminal } from "../terminal.ts";
import { toFeeText } from "./fees.ts";
import { isOwn, toFeeJson } from "./json.ts";
import { type BookPlace, withBooks } from "./place.ts";
import { toAmountText } from "./text.ts";

/** The command line of `payphone sales show`. */
export interface ShowCommand extends BookPlace {
  /** An id of a line, a transaction, a request id or a job id. */
  readonly text: string;
  readonly json: boolean;
}

/** One event of a sale. */
interface Step {
  /** Unix milliseconds. */
  readonly at: number;
  readonly step: string;
}

const STEPS = ["begun", "reserved", "verified", "worked", "recorded"] as const;

/** Prints the history of a sale. @throws Problem `not-found`, `bad-request`, `unavailable`. */
export function showSale(config: Config, command: ShowCommand, { out, err }: Terminal): Promise<void> {
  return withBooks(config, command, async ({ books, site, own, store: place, sandboxDir }) => {
    if (sandboxDir !== undefined) err("The sandbox's book: play money.");
    const found = books.find(command.text);
    if (found.length === 0) throw new Problem("not-found", `The book has nothing with ${printable(command.text)}`);
    if (found.length >= FOUND_MOST) err(`These are the oldest ${FOUND_MOST} lines at most: payphone sales lists all`);
    const lives = [...Map.groupBy(found, ({ id, of }) => of ?? id).values()];
    const store = await openStore(place).catch((error: Error) => {
      err(`How it was answered cannot be read: ${printable(error.message)}`); // A book that cannot be written is read.
    });
    const ends = await Promise.all(lives.map((lines) => (store ? readEnds(store, lines) : []))).finally(store?.close);
    for (const [number, lines] of lives.entries()) {
      const steps = [...toSteps(lines), ...(ends[number] ?? [])].sort((one, other) => one.at - other.at);
      const [line] = lines as [BookLine];
      const life = { line, steps, fees: [...books.fees(lines).values()], isOwn: isOwn(line, own) };
      out(command.json ? toJson(life) : toText(life, site.rails));
    }
  });
}

/** A sale with its events, and the fees of its lines. */
interface Life {
  /** The first of its lines. */
  readonly line: BookLine;
  readonly steps: readonly Step[];
  readonly fees: readonly BookFee[];
  readonly isOwn: boolean;
}

function toJson({ line, steps, fees, isOwn: own }: Life): string {
  const { times: _, seq: __, at, requestId, job, of, ...rest } = line;
  const life = steps.map((step) => ({ ...step, at: new Date(step.at).toISOString() }));
  const facts = { ...rest, sale_id: of, at: new Date(at).toISOString(), request_id: requestId, job_id: job };
  return printableJson(JSON.stringify({ ...facts, own, fees: fees.map(toFeeJson), life }));
}

function toText({ line, steps, fees, isOwn: own }: Life, rails: readonly RailManifest[]): string {
  const facts: readonly (readonly [string, string | null | undefined])[] = [
    ["sale", `${line.of ?? line.id}${own ? " (paid by your own wallet: no revenue)" : ""}`],
    ["service", `${line.service}${line.door ? `, by ${line.door}` : ""}`],
    ["amount", `${toAmountText({ ...line, kind: "sale" }, rails)} ($${line.usd ?? "?"})`],
    ["payer", line.payer],
    ["receiver", line.receiver],
    ["transaction", line.transaction],
    ["fee", fees.map((fee) => `${toFeeText(fee)} for the ${fee.purpose}`).join(", ")],
    ["explorer", explorerOf(rails, line)],
    ["request id", line.requestId],
    ["job", line.job],
    ["set", line.set],
  ];
  const shown = facts.flatMap(([name, value]) => (value ? [[name, printable(value)]] : []));
  const life = steps.map(({ at, step }) => [new Date(at).toISOString(), printable(step)]);
  return [...toColumns(shown), "", ...toColumns(life), ""].join("\n");
}

/** The events of a sale, in order. */
function toSteps(lines: readonly BookLine[]): Step[] {
  return lines.flatMap(({ kind, at, times, transaction }) => {
    const before = STEPS.flatMap((step) => (times?.[step] === undefined ? [] : [{ at: times[step], step }]));
    const step = { sale: "settled", refund: `paid back in ${transaction}`, ...DOUBTS }[kind];
    return [...before, { at, step }];
  });
}

/** What the store has about the end of a sale, as on the seller's page. @throws Problem `unavailable`. */
async function readEnds(store: Store, lines: readonly BookLine[]): Promise<Step[]> {
  const sale = lines.find(({ kind }) => kind === "sale");
  if (!sale) return [];
  const { answer, owed } = await readSaleFate(store, sale);
  const { sentAt, goneAt, later } = answer;
  return [
    ...(sentAt === undefined ? [] : [{ at: sentAt, step: "answered" }]),
    ...(goneAt === undefined ? [] : [{ at: goneAt, step: "ready, but the buyer had gone" }]),
    ...(later ? [{ at: later.lastAt, step: `fetched again (the last of ${later.count})` }] : []),
    ...(owed ? [{ at: owed.openedAt, step: OWED[owed.state] }] : []),
  ];
}

const OWED = { manual: "failed: it waits to be paid back by hand", pending: "failed: it is being paid back" };

const DOUBTS = {
  reversal: "taken back: the chain does not show the settlement",
  restoration: "counted again: the chain shows the settlement",
};
