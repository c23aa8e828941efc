import { setTimeout as sleep } from "node:timers/promises";
import type { BookLine } from "../../core/books/books.ts";
import { SIGNS } from "../../core/books/events.ts";
import type { RailManifest } from "../../core/set/manifest.ts";
import { toDecimal } from "../../core/set/price.ts";
import { openChains } from "../books/chains.ts";
import { withBooks } from "../books/place.ts";
import type { Config } from "../config/config.ts";
import type { Terminal } from "../terminal.ts";

export interface SimulatedTrade {
  readonly dir: string;
  readonly url: string;
  readonly rails: readonly RailManifest[];
  /** Unix milliseconds. */
  readonly from: number;
  /** The simulated buyers' addresses. */
  readonly payers: readonly string[];
}

/** A payment that was left open is settled, or given up, within so many looks. */
const LOOKS = 10;
const PAUSE_MS = 3000;
const DAY_MS = 24 * 60 * 60_000;
const PAGE = 2000;

/** Says, rail by rail, what the buyers' payments were to the chain, and what they are in the book: they must be the same. */
export async function compare(config: Config, trade: SimulatedTrade, { out }: Terminal): Promise<boolean> {
  const { dir, url, rails, from, payers } = trade;
  const theirs = new Set(payers.map((payer) => payer.toLowerCase()));
  for (let looks = 1; ; looks += 1) {
    const rows = await withBooks(config, { dir, sandbox: true }, async ({ books, sandboxDir }) => {
      const chainOf = await openChains({ config, sandboxDir, url });
      const lines = readLines((after) => books.lines({ from }, { limit: PAGE, order: "oldest-first", after })).filter(
        ({ payer, kind }) => theirs.has(payer ?? "") && kind !== "refund",
      );
      return Promise.all(rails.map((rail) => compareRail(rail, { chainOf, lines, from, theirs })));
    });
    const isSame = rows.every(({ booked, shown }) => booked === shown);
    if (!isSame && looks < LOOKS) {
      await sleep(PAUSE_MS);
      continue;
    }
    for (const { rail, booked, shown, sales } of rows) {
      const amount = (atomic: bigint): string => `${toDecimal(atomic, rail.decimals)} ${rail.symbol}`;
      out(`${rail.id}: ${sales} sales, ${amount(booked)} in the book, ${amount(shown)} on the chain`);
    }
    out(isSame ? "The book and the chains agree to the atom." : "The book and the chains do NOT agree.");
    return isSame;
  }
}

interface RailTerms {
  readonly chainOf: Awaited<ReturnType<typeof openChains>>;
  readonly lines: readonly BookLine[];
  readonly from: number;
  readonly theirs: ReadonlySet<string>;
}

async function compareRail(rail: RailManifest, { chainOf, lines, from, theirs }: RailTerms) {
  const { chain, receivers } = chainOf(rail);
  const transfers = (await chain?.read(receivers, { from: from - DAY_MS, to: Date.now() + DAY_MS })) ?? [];
  const paid = transfers.filter((transfer) => theirs.has(transfer.from?.toLowerCase() ?? ""));
  const ours = lines.filter((line) => line.rail === rail.id);
  const booked = ours.reduce((sum, { kind, amount }) => sum + BigInt(amount) * BigInt(SIGNS[kind]), 0n);
  const sales = ours.reduce((sum, { kind }) => sum + SIGNS[kind], 0);
  return { rail, booked, sales, shown: paid.reduce((sum, { amount }) => sum + amount, 0n) };
}

function readLines(read: (after: BookLine | undefined) => readonly BookLine[]): BookLine[] {
  const lines: BookLine[] = [];
  for (;;) {
    const page = read(lines.at(-1));
    lines.push(...page);
    if (page.length < PAGE) return lines;
  }
}
