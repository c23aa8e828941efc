/** Aligns the cells of rows in columns, one line per row. @param rows of equal length, as printable text. */
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
