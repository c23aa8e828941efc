/** The members of a JSON object from outside, not yet checked. */
export type JsonFields = Readonly<Record<string, unknown>>;

/** The members of a JSON value; none when it is not an object. */
export const toJsonFields = (value: unknown): JsonFields =>
  typeof value === "object" && value !== null ? (value as JsonFields) : {};
