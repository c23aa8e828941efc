import type { WebhookManifest } from "../set/manifest.ts";

/** The types of events that sellers can receive. */
export type WebhookType = NonNullable<WebhookManifest["events"]>[number];

/** An event that is sent to receivers. */
export interface WebhookEvent {
  /** The same for every attempt: at most 128 letters, digits, `_`, `-`, `.` and `:`. */
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
