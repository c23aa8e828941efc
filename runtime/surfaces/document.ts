/** Bytes that are the same for everybody until the services change. `headers` add to the usual ones, or replace them. */
export interface Document {
  /** As `Content-Type` has it. */
  readonly type: string;
  readonly body: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** The same in other types, for callers whose `Accept` prefers one of them. */
  readonly alternatives?: readonly Document[];
}
