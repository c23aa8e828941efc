/** How wallets are screened before a sale. */
export interface ScreenManifest {
  /** The id of the screening service; its input has the field `wallet`. */
  readonly service: string;
  /** Boolean fields of the service's answer: a wallet is refused when one of them is true. */
  readonly refuse: readonly string[];
  /** How long an answer is cached; 24 by default. */
  readonly cache_hours?: number;
}

/** A receiver of events about sales, refunds and troubles. */
export interface WebhookManifest {
  readonly id: string;
  /** May be omitted when `variable` gives the URL. */
  readonly url?: string;
  /** The environment variable whose value replaces `url`. */
  readonly variable?: string;
  /** The environment variable with the signing secret. */
  readonly secret: string;
  /** All events when omitted. */
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
