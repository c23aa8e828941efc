/** How many values a draw can have: 64 bits. */
const DRAWS = 2n ** 64n;

/**
 * One integer from `low` to `high`, both included and both safe integers, each as likely as any other: draws beyond
 * the last whole multiple of the span are thrown away, so that nothing is folded unevenly.
 * @param draw gives uniformly distributed integers from 0 to 2^64 - 1.
 */
export function drawBetween(low: number, high: number, draw: () => bigint): number {
  const span = BigInt(high) - BigInt(low) + 1n;
  const limit = DRAWS - (DRAWS % span);
  let drawn = draw();
  while (drawn >= limit) drawn = draw();
  return Number(BigInt(low) + (drawn % span));
}
