/** A call within the arguments of another call. */
export interface InnerCall {
  /** The called contract; null when it follows from neither the arguments nor the outer call. */
  readonly target: string | null;
  /** Wei that the call sends; null when the arguments do not say. */
  readonly wei: bigint | null;
  /** The calldata, or the arguments of a named command. */
  readonly data: string;
  /** A DELEGATECALL: the target's code runs on the caller's own storage, so a token's function moves no token. */
  readonly isDelegate?: boolean;
  /** Whether the outer call fails, so that it is never run. */
  readonly isRefused?: boolean;
  /** The signatures of a router's command, which has no selector: one for each form of its input. */
  readonly command?: readonly string[];
}
