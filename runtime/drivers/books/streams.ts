/** The Redis streams of a shop's book. Each entry has one field, `e`: JSON. */

/** Its events, one an entry. @param namespace what the store's keys begin with */
export const bookStreamOf = (namespace: string): string => `${namespace}-book`;

/** Its tallies, a list an entry. */
export const tallyStreamOf = (namespace: string): string => `${namespace}-tallies`;

/** The key of the book's own name, by which projections know it again. */
export const nameKeyOf = (namespace: string): string => `${namespace}-book-name`;
