import type { WebhookManifest } from "../seller-terms.ts";

/** What a seller's systems can be told of. */
export type WebhookType = NonNullable<WebhookManifest["events"]>[number];

/** Something that has happened, as it is told. */
export interface WebhookEvent {
  /** The same each time that it is told: at most 128 letters, digits, `_`, `-`, `.` and `:`. */
  readonly id: string;
  readonly type: WebhookType;
  /** When it happened: Unix milliseconds. */
  readonly at: number;
  /** JSON, with names in snake case. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** The body of a message (Standard Webhooks, "Payload structure"). */
export const toWebhookBody = ({ type, at, data }: WebhookEvent): string =>
  JSON.stringify({ type, timestamp: new Date(at).toISOString(), data });
