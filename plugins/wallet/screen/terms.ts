export interface ScreenTerms {
  readonly signal: AbortSignal;
  /** The EIP-155 chain for EVM addresses without one; Ethereum by default. */
  readonly chainId?: string;
  /** Unix milliseconds, for jobs: how long to wait for GoPlus, instead of five seconds. */
  readonly patientUntil?: number;
}
