/** A line for each row, its cells below those of the row before. @param rows of the same length, as printable texts. */
export function toColumns(rows: readonly (readonly string[])[]): string[] {
  const widths = rows.reduce<readonly number[]>(
    (most, row) => row.map((cell, at) => Math.max(most[at] ?? 0, cell.length)),
    [],
  );
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
