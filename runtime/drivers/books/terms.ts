import type { DatabaseSync } from "node:sqlite";
import type { BookLine } from "../../core/books/books.ts";

/** The terms that many lines share. */
export type LineTerms = Readonly<
  Pick<BookLine, "service" | "door" | "rail" | "network" | "asset" | "decimals" | "receiver" | "set">
>;

/** Each set that was applied has terms of its own. */
const MOST = 1000;

/** Reads rows of `book_terms` and caches them: they are never changed. */
export function createTermsReader(db: DatabaseSync): (id: number) => LineTerms {
  const read = db.prepare(
    'SELECT service, door, rail, network, asset, decimals, receiver, set_digest AS "set" FROM book_terms WHERE id = ?',
  );
  const known = new Map<number, LineTerms>();
  return (id) => {
    const terms = known.get(id) ?? (read.get(id) as LineTerms);
    if (known.size >= MOST && !known.has(id)) known.clear();
    known.set(id, terms);
    return terms;
  };
}
