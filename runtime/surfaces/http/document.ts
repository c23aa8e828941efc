/** A body that is the same for all clients until the services change. */
export interface Document {
  /** The value of `Content-Type`. */
  readonly type: string;
  readonly body: Buffer;
  /** Added to the usual headers; a header of the same name replaces the usual one. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The same document in other types, chosen by `Accept`. */
  readonly alternatives?: readonly Document[];
}

export const toJsonDocument = (value: object): Document => ({
  type: "application/json",
  body: Buffer.from(JSON.stringify(value)),
});
