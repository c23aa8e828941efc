import { type Plugins, Problem, toValueError, type ValidationIssue } from "#plugin";
import { DAY_SECONDS, GENESIS_SECOND, type Period, toIso, toSecond } from "./period.ts";
import { toAtomicUsdc } from "./usdc.ts";

/** The fields that summary and report share, validated by their schemas. */
export type LedgerRequest = Plugins["ledger"]["summary"]["input"];
/** Payments by the wallet, to the wallet, or both. */
export type Direction = LedgerRequest["direction"];
export type Grouping = LedgerRequest["group_by"];

/** The request, normalized. */
export interface LedgerQuery {
  /** In lower case. */
  readonly wallet: string;
  readonly period: Period;
  readonly direction: Direction;
  /** The smallest amount that counts, in atomic units. */
  readonly least: bigint;
  readonly groupBy: Grouping;
  /** Whether transfers that are not x402 payments count, too. */
  readonly withOthers: boolean;
}

const DEFAULT_DAYS = 30;

/** @param now milliseconds since the Unix epoch. @throws Problem `invalid-input` with all faults. */
export function toQuery(request: LedgerRequest, now: number): LedgerQuery {
  const issues: ValidationIssue[] = [];
  const period = toPeriod(request, Math.floor(now / 1000), issues);
  const least = toLeast(request.min_amount, issues);
  if (issues.length > 0) throw new Problem("invalid-input", undefined, { issues });
  return {
    wallet: request.wallet.toLowerCase(),
    period,
    direction: request.direction,
    least,
    groupBy: request.group_by,
    withOthers: request.include_unfiltered,
  };
}

function toPeriod({ from, to }: LedgerRequest, now: number, issues: ValidationIssue[]): Period {
  const fail = (complaint: string, field: "from" | "to", value: unknown): number => {
    issues.push(toValueError(`${field} ${complaint}`, value, field));
    return Number.NaN;
  };
  const read = (text: string, field: "from" | "to"): number =>
    toSecond(text, field === "from" ? "first" : "last") ??
    fail("must be an ISO 8601 date or datetime, such as 2026-11-01 or 2026-11-01T12:00:00Z", field, text);
  const asked = from == null ? undefined : read(from, "from");
  const end = Math.min(to == null ? now : read(to, "to"), now);
  const start = Math.max(asked ?? end - DEFAULT_DAYS * DAY_SECONDS, GENESIS_SECOND);
  if (start > now) fail("lies in the future", "from", from);
  else if (end < GENESIS_SECOND) fail(`must not be before the first block of Base, ${toIso(GENESIS_SECOND)}`, "to", to);
  else if (start > end) fail("must not be after to", "from", from);
  return { from: start, to: end };
}

function toLeast(amount: string | number | null | undefined, issues: ValidationIssue[]): bigint {
  const least = toAtomicUsdc(String(amount ?? 0));
  if (least === undefined)
    issues.push(
      toValueError("min_amount must be a plain decimal number with at most 6 decimals", amount, "min_amount"),
    );
  return least ?? 0n;
}
