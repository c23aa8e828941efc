/** One purchase of a wallet, in its current state. */
export interface BoughtCall {
  readonly id: string;
  /** The service's id. */
  readonly service: string;
  /** ISO 8601, UTC. */
  readonly bought_at: string;
  readonly payer: string;
  /** CAIP-2. */
  readonly network: string;
  /**
   * `settling`: the outcome of the payment is unknown. `paid`: the work, or its refund, is still owed; a job may also have
   * failed without being paid back. `forgotten`: the answer has expired.
   */
  readonly state: "settling" | "paid" | "delivered" | "paid-back" | "forgotten";
  readonly asset: string | null;
  /** Atomic units. */
  readonly amount: string | null;
  readonly transaction: string | null;
  /** Set when a job was bought. */
  readonly job_id: string | null;
  /** The stored answer, once it is delivered; of a job, that it was accepted; null where a list leaves it out. */
  readonly answer: object | null;
}

/** The purchases of wallets. Handlers must show them only to the wallet that has signed in. */
export interface Purchases {
  /**
   * The newest purchases of these accounts (`Call.accounts`), the newest first. Of their answers only the newest that fit
   * 16 MB for each account, and none with `answers: false`: `read` has the others.
   */
  list(accounts: readonly string[], limit: number, shown?: { readonly answers?: boolean }): Promise<BoughtCall[]>;
  /** One purchase of these accounts; undefined when there is none with this id. */
  read(accounts: readonly string[], id: string): Promise<BoughtCall | undefined>;
}
