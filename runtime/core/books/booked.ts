import type { BookLine } from "./books.ts";
import { SIGNS } from "./events.ts";

/** What the book has of a transaction. */
export interface Booked {
  count: number;
  amount: bigint;
  readonly ids: string[];
  /** When the last of its lines was entered: Unix milliseconds. */
  at: number;
}

/** Refunds are not sent from the receiving addresses. */
const isIncoming = ({ kind }: BookLine): boolean => kind !== "refund";

/** The sales, reversals and restorations of each transaction. */
export function sumByTransaction(lines: readonly BookLine[]): Map<string, Booked> {
  const sums = new Map<string, Booked>();
  for (const line of lines) {
    if (!isIncoming(line)) continue;
    const known = sums.get(line.transaction) ?? { count: 0, amount: 0n, ids: [], at: 0 };
    known.at = Math.max(known.at, line.at);
    known.count += SIGNS[line.kind];
    known.amount += BigInt(line.amount) * BigInt(SIGNS[line.kind]);
    if (SIGNS[line.kind] > 0) known.ids.push(line.id);
    sums.set(line.transaction, known);
  }
  return sums;
}

/** What they come to, in atomic units. */
export const sumOfLines = (lines: readonly BookLine[]): bigint =>
  lines.filter(isIncoming).reduce((total, { kind, amount }) => total + BigInt(amount) * BigInt(SIGNS[kind]), 0n);
