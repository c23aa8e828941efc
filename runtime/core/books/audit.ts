import type { Clock } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { toAccount } from "../account.ts";
import { toDecimal } from "../set/price.ts";
import { sumByTransaction, sumOfLines } from "./booked.ts";
import type { BookLine, Span } from "./books.ts";

/** A transfer of a rail's token to one of its receiving addresses. */
export interface Transfer {
  readonly transaction: string;
  /** Null when the chain does not name the sender. */
  readonly from: string | null;
  /** Who signed the transaction, where a delegate of the sender may be the payer: on Solana. */
  readonly signers?: readonly string[];
  readonly to: string;
  /** Atomic units. */
  readonly amount: bigint;
  /** Unix milliseconds. */
  readonly at: number;
}

/** Reads the transfers of one token on one chain. */
export interface TransferReader {
  /** When the chain began, for a chain that began recently: Unix milliseconds. Earlier sales were on another chain. */
  begin(): Promise<number>;
  /** The transfers to these addresses within a span. @throws Problem `upstream-failed`. */
  read(receivers: readonly string[], span: Span): Promise<readonly Transfer[]>;
  /** Those of one transaction; none when it failed or is in no block. @throws Problem `upstream-failed`. */
  of(transaction: string, receivers: readonly string[]): Promise<readonly Transfer[]>;
  /** Whether the transaction carried an x402 payment (an EIP-3009 authorization), as far as can be told. */
  isPayment(transaction: string): Promise<boolean>;
}

/** The comparison of the book with the chain, for one rail. */
export interface Audit {
  /** The number of valid sales; their sum is `booked`. */
  readonly sales: number;
  readonly booked: bigint;
  /** What the chain shows for these sales. */
  readonly received: bigint;
  /** Sales and refunds whose transaction does not show the booked amount. */
  readonly missing: readonly {
    readonly transaction: string;
    readonly booked: bigint;
    readonly shown: bigint;
    readonly ids: readonly string[];
  }[];
  /**
   * Sales whose transfer was not sent by their payer or not received by their receiver, and lines whose dollar price
   * differs from their amount.
   */
  readonly altered: readonly {
    readonly id: string;
    readonly transaction: string;
    readonly what: "payer" | "receiver" | "usd";
    readonly booked: string;
    readonly shown: string;
  }[];
  /** x402 payments that are not in the book. */
  readonly unbooked: readonly Transfer[];
  /** Other transfers: somebody has sent money to the address. */
  readonly others: readonly Transfer[];
}

export interface AuditDeps {
  readonly chain: TransferReader;
  readonly receivers: readonly string[];
  readonly span: Span;
  /** Whether the token counts dollars: the price of a line is then its amount. */
  readonly isDollar: boolean;
  /** The lines of the rail in the span. */
  readonly lines: readonly BookLine[];
  /** Every line with this transaction, entered at any time. */
  readonly find: (transaction: string) => readonly BookLine[];
  /** Waits a moment, and reads what was entered meanwhile: a recent payment may not be in the book yet. */
  readonly again: () => Promise<void>;
  readonly clock: Clock;
}

/** A sale is entered some time after its block, and clocks differ. */
const SLACK_MS = 60 * 60_000;
/** A payment is entered this soon after its block, unless something is wrong. */
const ENTERED_MS = 60_000;
const MOST_WAITS = 4;

/** Compares a book with its chain. @throws Problem `upstream-failed` when the chain cannot be read. */
export async function audit(deps: AuditDeps): Promise<Audit> {
  const { chain, receivers, span, lines, find } = deps;
  const booked = sumByTransaction(lines);
  const wide = { from: span.from - SLACK_MS, to: span.to + SLACK_MS };
  /** What is newer, a node that is some blocks behind need not list. */
  const listedTo = Math.min(wide.to, deps.clock.now() - ENTERED_MS);
  const shown = Map.groupBy(await chain.read(receivers, wide), ({ transaction }) => transaction);
  const missing: Audit["missing"][number][] = [];
  let [sales, sum, received] = [0, 0n, 0n];
  const transfersOf = createPatientReading(deps);
  const parties = new Map<string, Parties>();
  for (const [transaction, { count, amount, ids, at }] of booked) {
    const transfers = shown.get(transaction) ?? (count === 0 ? [] : await transfersOf(transaction, receivers, at));
    // Its list may lack what is not in the book, too.
    if (!shown.has(transaction) && transfers.some((one) => one.at >= wide.from && one.at < listedTo))
      throw new Problem("upstream-failed", toUnlisted(transaction));
    const paid = transfers.reduce((total, one) => total + one.amount, 0n);
    parties.set(transaction, { payer: transfers.flatMap(toSenders), receiver: transfers.map(({ to }) => to) });
    // It may carry payments that were entered before or after the span, or have been named before for what it carries.
    const isInside = transfers.every(({ at }) => at >= span.from && at < span.to);
    const isPlain = isInside && paid === amount;
    const beside = isPlain ? [] : find(transaction).filter(({ at }) => at < span.from || at >= span.to);
    const whole = amount + sumOfLines(beside);
    if (paid !== whole) missing.push({ transaction, booked: whole, shown: paid, ids });
    sales += count;
    sum += amount;
    received += paid === whole ? amount : paid;
  }
  const strange = [...shown.values()]
    .flat()
    .filter(({ at, transaction }) => at >= span.from && at < span.to && !booked.has(transaction));
  missing.push(...(await checkRefunds(deps, transfersOf)));
  return {
    sales,
    booked: sum,
    received,
    missing,
    altered: findAltered(deps, parties),
    ...(await sortOut(strange, deps)),
  };
}

const toUnlisted = (transaction: string): string =>
  `The node shows the transfer in ${transaction}, and does not list it: what it lists is not whole`;

const toSenders = ({ from, signers = [] }: Transfer): string[] => [...(from === null ? [] : [from]), ...signers];

/** Who has sent and got the transfers of a transaction. */
type Parties = Readonly<Record<"payer" | "receiver", readonly string[]>>;

const NANO_DECIMALS = 9;

/** @param parties by transaction; a line whose transaction names none is not checked */
function findAltered({ lines, find, isDollar }: AuditDeps, parties: ReadonlyMap<string, Parties>): Audit["altered"] {
  return lines.flatMap((line) => {
    const { id, kind, transaction, usd, amount, decimals } = line;
    const found: Audit["altered"][number][] = [];
    for (const what of ["payer", "receiver"] as const) {
      const booked = line[what];
      const shown = parties.get(transaction)?.[what] ?? [];
      if (kind !== "sale" || booked === null || shown[0] === undefined) continue;
      const isShown = shown.some((one) => toAccount(one) === toAccount(booked));
      if (!isShown && !isTakenBack(find(transaction), id))
        found.push({ id, transaction, what, booked, shown: shown[0] });
    }
    // A refund whose sale is not in the book has no price in dollars.
    if (isDollar && decimals !== null && (usd !== null || kind === "sale")) {
      const shown = toDecimal((BigInt(amount) * 10n ** BigInt(NANO_DECIMALS)) / 10n ** BigInt(decimals), NANO_DECIMALS);
      if (usd !== shown) found.push({ id, transaction, what: "usd", booked: usd ?? "nothing", shown });
    }
    return found;
  });
}

/** Whether a sale does not count: it was reversed, since the transaction that a facilitator had named did not pay it. */
const isTakenBack = (lines: readonly BookLine[], sale: string): boolean =>
  lines.filter(({ kind, of }) => kind === "reversal" && of === sale).length >
  lines.filter(({ kind, of }) => kind === "restoration" && of === sale).length;

/** Reads the transfers of one transaction to these addresses. */
type Reading = (transaction: string, receivers: readonly string[], enteredAt: number) => Promise<readonly Transfer[]>;

/** While nothing is found for a recent line, waits and reads again: the node may be a block behind. */
function createPatientReading({ chain, again, clock }: AuditDeps): Reading {
  let waits = 0;
  return async (transaction, receivers, enteredAt) => {
    for (;;) {
      const found = await chain.of(transaction, receivers);
      if (found.length > 0 || waits >= MOST_WAITS || !isRecent(enteredAt, clock)) return found;
      waits += 1;
      await again();
    }
  };
}

const isRecent = (at: number, clock: Clock): boolean => at > clock.now() - ENTERED_MS;

/** The refunds whose transaction does not pay their buyer what the book says. A refund to nobody known is not checked. */
async function checkRefunds({ lines, find }: AuditDeps, transfersOf: Reading): Promise<Audit["missing"]> {
  const nameOf = ({ transaction, payer }: BookLine): string => `${transaction} ${payer}`;
  const refunds = Map.groupBy(
    lines.filter(({ kind, payer }) => kind === "refund" && payer !== null),
    nameOf,
  );
  const wrong: Audit["missing"][number][] = [];
  for (const [name, inside] of refunds) {
    const { transaction, payer, at } = inside.at(-1) as BookLine;
    // Others of the same transaction may have been entered before or after the span.
    const all = find(transaction).filter((line) => line.kind === "refund" && nameOf(line) === name);
    const booked = (all.length > 0 ? all : inside).reduce((total, { amount }) => total + BigInt(amount), 0n);
    const transfers = await transfersOf(transaction, [payer as string], at);
    const shown = transfers.reduce((total, { amount }) => total + amount, 0n);
    if (shown !== booked) wrong.push({ transaction, booked, shown, ids: inside.map(({ id }) => id) });
  }
  return wrong;
}

/** Sorts the transfers that are in no line of the book. */
async function sortOut(
  strange: readonly Transfer[],
  { chain, find, again, clock }: AuditDeps,
): Promise<Pick<Audit, "unbooked" | "others">> {
  function isStrange({ transaction, to }: Transfer): boolean {
    const lines = find(transaction);
    // What was bought from a receiving address itself is paid back to it.
    return sumOfLines(lines) === 0n && !lines.some(({ kind, payer }) => kind === "refund" && payer === toAccount(to));
  }
  let unbooked: Transfer[] = [];
  const others: Transfer[] = [];
  for (const transfer of strange.filter(isStrange))
    (!isWithin(transfer) && (await chain.isPayment(transfer.transaction)) ? unbooked : others).push(transfer);
  for (let waits = 0; waits < MOST_WAITS && unbooked.some(({ at }) => isRecent(at, clock)); waits += 1) {
    await again();
    unbooked = unbooked.filter(isStrange);
  }
  return { unbooked, others: others.filter(isStrange) };
}

/** Whether it has moved nothing: a refund of the treasury to itself is entered in the book once it counts as final. */
const isWithin = ({ from, to }: Transfer): boolean => from !== null && toAccount(from) === toAccount(to);
