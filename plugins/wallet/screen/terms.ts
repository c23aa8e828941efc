/** How an address is screened. */
export interface ScreenTerms {
  readonly signal: AbortSignal;
  /** The EIP-155 chain of EVM addresses that name none; Ethereum by default. */
  readonly chainId?: string;
  /** Unix milliseconds, for jobs: GoPlus is waited for until then, instead of five seconds. */
  readonly patientUntil?: number;
}
