import { randomBytes } from "node:crypto";
import type { BookEvent, BookTally, SaleEvent } from "../../../runtime/core/books/events.ts";
import { refundId, saleId } from "../../../runtime/core/books/events.ts";
import { type FeeEvent, toFee } from "../../../runtime/core/books/fees.ts";
import type { Store } from "../../../runtime/core/store.ts";

/** One of the shop's services, as it is sold on one rail. */
export interface Sold extends Pick<SaleEvent, "service" | "rail" | "network" | "asset" | "decimals" | "receiver"> {
  /** US dollars. */
  readonly usd: string;
  readonly amount: string;
}

const YEAR_MS = 365 * 86_400_000;
/** Tallies are kept for so long. */
const TALLIES_MS = 90 * 86_400_000;
const PAYERS = 5000;
/** One of so many sales is a job that is refunded, and of so many settlements the treasury pays the fee. */
const REFUNDED = 100;
const WITH_FEE = 10;
const DOORS = ["rest", "mcp", "a2a"] as const;
/** Written together, as under load. */
const STEP = 500;

/** Enters the sales of a year that ends now, evenly, with their refunds, fees and tallies. */
export async function enterYear(store: Store, sold: readonly Sold[], sales: number): Promise<void> {
  const now = Date.now();
  const payers = Array.from({ length: PAYERS }, () => `0x${randomBytes(20).toString("hex")}`);
  for (let from = 0; from < sales; from += STEP) {
    const numbers = Array.from({ length: Math.min(STEP, sales - from) }, (_, at) => from + at);
    const made = numbers.map((number) =>
      toSale(sold[number % sold.length] as Sold, {
        number,
        at: now - YEAR_MS + Math.floor((number / sales) * YEAR_MS),
        payer: payers[(number * 7919) % PAYERS] as string,
      }),
    );
    const events = made.flatMap((sale, at) => toEvents(sale, numbers[at] as number));
    await Promise.all(events.map((event) => store.enter(event, { key: "bench", value: 1, durability: "lazy" })));
    const newest = made.filter(({ at }) => at > now - TALLIES_MS);
    const minutes = Map.groupBy(newest.flatMap(toTallies), ({ minute }) => minute);
    await Promise.all([...minutes.values()].map(store.count)); // A shop writes them every few seconds.
    if (from % (100 * STEP) === 0) process.stderr.write(".");
  }
}

interface Made {
  readonly number: number;
  readonly at: number;
  readonly payer: string;
}

function toSale(sold: Sold, { number, at, payer }: Made): SaleEvent {
  return {
    kind: "sale",
    id: saleId(toKey(number)),
    at,
    ...sold,
    door: DOORS[number % DOORS.length] ?? "rest",
    payer,
    transaction: `0x${randomBytes(32).toString("hex")}`,
    requestId: `request-${number}`,
    job: number % REFUNDED === 0 ? `job-${number}` : null,
    set: "0123456789abcdef",
    times: { begun: at - 40, reserved: at - 38, verified: at - 30, worked: at - 20, recorded: at - 18 },
  };
}

/** The key of a payment. */
const toKey = (number: number): string => `bench:${number}`;

function toEvents(sale: SaleEvent, number: number): (BookEvent | FeeEvent)[] {
  const { service, network, asset, amount, payer, job, at, transaction } = sale;
  const events: (BookEvent | FeeEvent)[] = [sale];
  if (number % WITH_FEE === 0) {
    const spentFor = { purpose: "settlement", about: toKey(number) } as const;
    events.push(toFee({ network, at, cost: 21_000_000_000_000n, ...spentFor, isReverted: false, transaction }));
  }
  if (job !== null) {
    const refund = `0x${randomBytes(32).toString("hex")}`;
    const paidBack = { id: refundId(job), at: at + 60_000, job, service, network, asset, amount, payer };
    events.push({ kind: "refund", ...paidBack, transaction: refund });
  }
  return events;
}

function toTallies({ at, service, door, rail }: SaleEvent): BookTally[] {
  const minute = Math.floor(at / 60_000);
  const of = (what: string, count: number, on = rail): BookTally => ({ minute, service, door, rail: on, what, count });
  return [of("challenge", 3, ""), of("attempt", 1), of("result", 1), of("ms:50", 1)];
}
