/** A JSON object from elsewhere, of which nothing is known yet. */
export type Fields = Readonly<Record<string, unknown>>;

/** What a source has answered, to be looked into field by field; what is no object has none. */
export const toFields = (value: unknown): Fields =>
  typeof value === "object" && value !== null ? (value as Fields) : {};
