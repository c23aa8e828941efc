/** The Redis streams of a shop's book. Each stream entry has one field, `e`, with JSON. */

/** The stream of events, one per entry. @param namespace the prefix of the store's keys */
export const bookStreamOf = (namespace: string): string => `${namespace}-book`;

/** The stream of tallies, a list per entry. */
export const tallyStreamOf = (namespace: string): string => `${namespace}-tallies`;

/** The key of the book's name, which shows projections whether it is still the same book. */
export const nameKeyOf = (namespace: string): string => `${namespace}-book-name`;
