/** Bytes that are the same for everybody until the services change. */
export interface Document {
  /** The value of `Content-Type`. */
  readonly type: string;
  readonly body: Buffer;
  /** Added to the usual headers, or in their place. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The same document in other types, chosen by `Accept`. */
  readonly alternatives?: readonly Document[];
}
