/** How wallets are screened before they are sold anything. */
export interface ScreenManifest {
  /** The id of the service that is asked: takes `wallet`. */
  readonly service: string;
  /** Boolean fields of its answer: a wallet is refused where one is true. */
  readonly refuse: readonly string[];
  /** How long an answer counts; 24 by default. */
  readonly cache_hours?: number;
}

/** Who is told of sales, refunds and troubles. */
export interface WebhookManifest {
  readonly id: string;
  /** Left out where only `variable` gives it. */
  readonly url?: string;
  /** The environment variable whose URL replaces `url`. */
  readonly variable?: string;
  /** The environment variable with the secret. */
  readonly secret: string;
  /** Left out: everything. */
  readonly events?: readonly (
    | "sale"
    | "sale.reversed"
    | "sale.restored"
    | "refund"
    | "refund.manual"
    | "rail.down"
    | "facilitator.distrusted"
    | "job.failed"
  )[];
}
