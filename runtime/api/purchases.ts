/** One purchase of a wallet, as it stands. */
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
   * `settling`: the outcome of the payment is not known yet. `paid`: the work is still owed. `forgotten`: the answer is not
   * kept any more.
   */
  readonly state: "settling" | "paid" | "delivered" | "paid-back" | "forgotten";
  readonly asset: string | null;
  /** Atomic units. */
  readonly amount: string | null;
  readonly transaction: string | null;
  /** Set where a job was bought. */
  readonly job_id: string | null;
  /** The stored answer, once it is delivered. */
  readonly answer: object | null;
}

/** What wallets have bought here. Handlers must give it to nobody but the wallet that has signed in. */
export interface Purchases {
  /** The newest purchases of these accounts (`Call.accounts`), the newest first. */
  list(accounts: readonly string[], limit: number): Promise<BoughtCall[]>;
  /** One purchase of these accounts. */
  read(accounts: readonly string[], id: string): Promise<BoughtCall | undefined>;
}
