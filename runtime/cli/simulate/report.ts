import { setTimeout as sleep } from "node:timers/promises";
import { withNoun } from "../../api/text.ts";
import type { BookLine, TallySum } from "../../core/books/books.ts";
import { DOORS, type Door, SIGNS } from "../../core/books/events.ts";
import type { RailManifest } from "../../core/set/manifest.ts";
import { toDecimal } from "../../core/set/price.ts";
import { openChains } from "../books/chains.ts";
import { withBooks } from "../books/place.ts";
import type { Config } from "../config/config.ts";
import type { Terminal } from "../terminal.ts";
import type { OwnPurchases } from "./buyers.ts";

/** A simulated buyer and its own count of its purchases. */
export interface SimulatedClient extends OwnPurchases {
  readonly door: Door;
  /** Lower case. */
  readonly address: string;
}

export interface SimulatedTrade {
  readonly dir: string;
  readonly url: string;
  readonly rails: readonly RailManifest[];
  /** Unix milliseconds. */
  readonly from: number;
  readonly clients: readonly SimulatedClient[];
}

/** How many checks an open payment has until it must be settled or dropped. */
const LOOKS = 10;
const PAUSE_MS = 3000;
const DAY_MS = 24 * 60 * 60_000;
const MINUTE_MS = 60_000;
const PAGE = 2000;

/**
 * Prints the buyers' payments according to the chain and to the book, rail by rail, and the number of sales according
 * to the book and to the buyers, door by door. @returns whether they are equal.
 */
export async function compare(config: Config, trade: SimulatedTrade, { out }: Terminal): Promise<boolean> {
  const { dir, url, rails, from, clients } = trade;
  const theirs = new Set(clients.map(({ address }) => address));
  for (let looks = 1; ; looks += 1) {
    const { rows, doors } = await withBooks(config, { dir, sandbox: true }, async ({ books, sandboxDir }) => {
      const chainOf = await openChains({ config, sandboxDir, url });
      const lines = readLines((after) => books.lines({ from }, { limit: PAGE, order: "oldest-first", after })).filter(
        ({ payer, kind }) => theirs.has(payer ?? "") && kind !== "refund",
      );
      const tallies = books.tallies({ from: Math.floor(from / MINUTE_MS) * MINUTE_MS, to: Date.now() + MINUTE_MS });
      return {
        rows: await Promise.all(rails.map((rail) => compareRail(rail, { chainOf, lines, from, theirs }))),
        doors: DOORS.map((door) => compareDoor(door, { clients, lines, tallies })),
      };
    });
    const isSame = rows.every(({ booked, shown }) => booked === shown) && doors.every(({ isRight }) => isRight);
    if (!isSame && looks < LOOKS) {
      await sleep(PAUSE_MS);
      continue;
    }
    for (const { rail, booked, shown, sales } of rows) {
      const amount = (atomic: bigint): string => `${toDecimal(atomic, rail.decimals)} ${rail.symbol}`;
      out(`${rail.id}: ${withNoun(sales, "sale")}, ${amount(booked)} in the book, ${amount(shown)} on the chain`);
    }
    for (const { door, sales, served, open, counted } of doors)
      out(
        `${door}: ${withNoun(sales, "sale")} in the book, ${withNoun(served, "answer")} had and ${open} not waited for, ${counted} in the funnel`,
      );
    out(
      isSame
        ? "The book and the chains agree to the atom, and the buyers with both."
        : "The book, the chains and the buyers do NOT agree.",
    );
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

interface DoorTerms {
  readonly clients: readonly SimulatedClient[];
  readonly lines: readonly BookLine[];
  readonly tallies: readonly TallySum[];
}

/**
 * Buyers who waited have one sale for each payment. Each payment of the others may have been charged once or not at
 * all.
 */
function compareDoor(door: Door, { clients, lines, tallies }: DoorTerms) {
  const here = clients.filter((client) => client.door === door);
  const sums = here.map(({ address, served, open }) => {
    const theirs = lines.filter((line) => line.payer === address);
    const sales = theirs.reduce((sum, { kind }) => sum + SIGNS[kind], 0);
    const isRight = sales >= served && sales <= served + open && theirs.every((line) => line.door === door);
    return { sales, served, open, isRight };
  });
  const sum = (name: "sales" | "served" | "open"): number => sums.reduce((total, each) => total + each[name], 0);
  const counted = tallies.filter((tally) => tally.door === door && tally.what === "result");
  return {
    door,
    sales: sum("sales"),
    served: sum("served"),
    open: sum("open"),
    counted: counted.reduce((total, { count }) => total + count, 0),
    isRight: sums.every(({ isRight }) => isRight),
  };
}

function readLines(read: (after: BookLine | undefined) => readonly BookLine[]): BookLine[] {
  const lines: BookLine[] = [];
  for (;;) {
    const page = read(lines.at(-1));
    lines.push(...page);
    if (page.length < PAGE) return lines;
  }
}
