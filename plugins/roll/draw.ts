/** The number of values of a 64-bit draw. */
const DRAWS = 2n ** 64n;

/**
 * A uniformly distributed integer from `low` to `high`, both included and both safe integers. Draws beyond the last whole
 * multiple of the range are discarded (rejection sampling), so the remainder has no bias. @param draw returns uniformly distributed integers from 0 to 2^64 - 1.
 */
export function drawBetween(low: number, high: number, draw: () => bigint): number {
  const span = BigInt(high) - BigInt(low) + 1n;
  const limit = DRAWS - (DRAWS % span);
  let drawn = draw();
  while (drawn >= limit) drawn = draw();
  return Number(BigInt(low) + (drawn % span));
}
