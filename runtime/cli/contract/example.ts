/** One example of a manifest. */
export interface ContractExample {
  /** `example 2 of roll`. */
  readonly title: string;
  readonly service: string;
  readonly input: unknown;
  /** Undefined when the manifest shows no output. */
  readonly output: unknown;
}
