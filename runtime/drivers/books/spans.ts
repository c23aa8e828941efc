import type { SQLInputValue } from "node:sqlite";
import type { Span } from "../../core/books/books.ts";
import { MINUTE_MS } from "./schema.ts";

/** Consecutive whole units: `at` counts from `from` to before `to`. */
export interface UnitSpan {
  /** In minutes. */
  readonly unit: number;
  readonly from: number;
  readonly to: number;
}

/**
 * Cuts a span into the largest units that fit: days, and the hours before and after them. The span is widened to whole
 * smallest units. @param units in minutes, the largest first
 */
export function cutSpan({ from, to }: Span, units: readonly number[]): readonly UnitSpan[] {
  const [unit, ...smaller] = units;
  if (unit === undefined) return [];
  const ms = unit * MINUTE_MS;
  if (smaller.length === 0) return [{ unit, from: Math.floor(from / ms), to: Math.ceil(to / ms) }];
  const [first, last] = [Math.ceil(from / ms), Math.floor(to / ms)];
  if (first >= last) return cutSpan({ from, to }, smaller);
  const [before, after] = [
    { from, to: first * ms },
    { from: last * ms, to },
  ];
  const edges = [before, after].filter((edge) => edge.from < edge.to).flatMap((edge) => cutSpan(edge, smaller));
  return [{ unit, from: first, to: last }, ...edges];
}

/** The units that divide a bucket; all units when there are no buckets. @param units in minutes, the largest first */
export const unitsOf = (units: readonly number[], bucketMs: number | undefined): readonly number[] =>
  bucketMs === undefined ? units : units.filter((unit) => bucketMs % (unit * MINUTE_MS) === 0);

/** SQL that selects these spans from a table with `unit` and `at` (as Unix milliseconds). */
export function selectSpans(table: string, columns: string, spans: readonly UnitSpan[]): SelectedSpans {
  const one = `SELECT at * unit * ${MINUTE_MS} AS at, ${columns} FROM ${table} WHERE unit = ? AND at >= ? AND at < ?`;
  return {
    sql: spans.map(() => one).join(" UNION ALL "),
    values: spans.flatMap(({ unit, from, to }) => [unit, from, to]),
  };
}

export interface SelectedSpans {
  readonly sql: string;
  readonly values: readonly SQLInputValue[];
}
