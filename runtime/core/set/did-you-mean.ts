/** The most similar known word, if it differs by at most one typing error plus one per five letters. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  const limit = 1 + Math.floor(word.length / 5);
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const name of known) {
    if (Math.abs(word.length - name.length) > limit) continue; // Callers send words of any length.
    const distance = distanceOf(word.toLowerCase(), name.toLowerCase());
    if (distance <= limit && distance < (best?.distance ?? Number.POSITIVE_INFINITY)) best = { name, distance };
  }
  return best?.name;
}

/** `; did you mean "roll"?`, or an empty text. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const name = nearest(word, known);
  return name === undefined ? "" : `; did you mean ${JSON.stringify(name)}?`;
}

/** The optimal string alignment distance: letters inserted, deleted and replaced, and neighbours swapped. */
function distanceOf(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current[column] = Math.min(
        above[column]! + 1,
        current[column - 1]! + 1,
        above[column - 1]! + (same ? 0 : 1),
        swapped ? before[column - 2]! + 1 : Number.POSITIVE_INFINITY,
      );
    }
    before = above;
    above = current;
  }
  return above[b.length]!;
}
