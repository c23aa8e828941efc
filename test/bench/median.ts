/** The middle value; of an even number of them, the upper one of the two. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** The time that half of the calls, and that 99 of 100 do not exceed. */
export function toFigures(taken: readonly number[]): { readonly p50: number; readonly p99: number } {
  const sorted = [...taken].sort((one, other) => one - other);
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}
