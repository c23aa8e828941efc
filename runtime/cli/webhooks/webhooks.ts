import { Problem } from "../../api/problem.ts";
import type { SiteManifest } from "../../core/set/manifest.ts";
import { toBookEvent } from "../../core/webhooks/book-feed.ts";
import { createDeliveries, type Delivery } from "../../core/webhooks/deliveries.ts";
import type { WebhookEvent } from "../../core/webhooks/events.ts";
import { openServerStore, type StorePlace } from "../config/server-store.ts";
import { createBookAccess } from "../monitor/book-access.ts";

/** A message that its receiver has not accepted. */
export interface WebhookRow {
  readonly state: "waiting" | "given-up";
  readonly endpoint: string;
  readonly id: string;
  readonly type: string;
  readonly failures: number;
  readonly reason: string | null;
  /** ISO 8601; null when it will not be sent again. */
  readonly next: string | null;
}

/**
 * The messages that wait for delivery, and those that failed finally within the last month.
 * @throws Problem `bad-request` when there is no store, `unavailable`.
 */
export async function listWebhooks(
  config: StorePlace,
  { webhooks = [] }: SiteManifest,
): Promise<readonly WebhookRow[]> {
  const store = await openServerStore(config);
  try {
    const deliveries = createDeliveries(store);
    const rows: WebhookRow[] = [];
    for (const { id } of webhooks)
      for await (const key of deliveries.list(id)) {
        const delivery = await deliveries.read(key);
        if (delivery) rows.push(toRow(delivery, "waiting"));
      }
    for await (const delivery of deliveries.givenUp()) rows.push(toRow(delivery, "given-up"));
    return rows;
  } finally {
    await store.close();
  }
}

function toRow({ endpoint, event, failures, reason, notBefore }: Delivery, state: WebhookRow["state"]): WebhookRow {
  const next = state === "waiting" ? new Date(notBefore).toISOString() : null;
  return { state, endpoint, id: event.id, type: event.type, failures, reason: reason ?? null, next };
}

/** The messages to send again. */
export interface Resend {
  /** Ids of messages, also of waiting ones, sales or refunds; also transactions, job ids and request ids in the book. */
  readonly ids: readonly string[];
  /** All messages that failed finally. */
  readonly givenUp?: boolean;
  /** All lines of the book since this time, in Unix milliseconds. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

const PAGE = 500;

/**
 * Stores messages to be sent again. A running server sends them within seconds, otherwise the next one does.
 * @returns how many. @throws Problem `not-found` for an unknown id; `bad-request` when there is no store, `unavailable`.
 */
export async function resendWebhooks(
  config: StorePlace,
  { webhooks = [] }: SiteManifest,
  what: Resend,
): Promise<number> {
  const store = await openServerStore(config);
  const books = createBookAccess(config);
  const deliveries = createDeliveries(store);
  let count = 0;
  try {
    const lost: Delivery[] = [];
    // Those of a receiver that the site no longer has stay where they are: nobody would send them.
    for await (const delivery of deliveries.givenUp())
      if (webhooks.some((webhook) => webhook.id === delivery.endpoint)) lost.push(delivery);
    for (const delivery of lost) {
      if (!what.givenUp && !what.ids.includes(delivery.event.id)) continue;
      await put(delivery.endpoint, delivery.event);
      await deliveries.forget(delivery);
    }
    const known = lost.map(({ event }) => event.id);
    for (const id of what.ids.filter((wanted) => !known.includes(wanted))) await resendLines(id);
    if (what.from !== undefined) await resendSpan(what.from, what.to);
    return count;
  } finally {
    await books.close();
    await store.close();
  }

  async function resendLines(id: string): Promise<void> {
    const book = await books.open();
    await book.refresh();
    const lines = book.find(id);
    for (const line of lines) await tell(toBookEvent(line));
    if (lines.length === 0 && !(await hurry(id)))
      throw new Problem("not-found", `Neither the book nor the messages to the site's receivers know ${id}`);
  }

  /** Sends a message that waits for its next attempt; returns whether there is one. */
  async function hurry(id: string): Promise<boolean> {
    const waiting = await Promise.all(webhooks.map((webhook) => deliveries.read(`${webhook.id}:${id}`)));
    const found = waiting.filter((delivery) => delivery !== undefined);
    for (const { endpoint, event } of found) await put(endpoint, event);
    return found.length > 0;
  }

  async function resendSpan(from: number, to: number | undefined): Promise<void> {
    const book = await books.open();
    await book.refresh();
    let after: { at: number; seq: number } | undefined;
    do {
      const lines = book.lines({ from, to }, { limit: PAGE, order: "oldest-first", after });
      for (const line of lines) await tell(toBookEvent(line));
      after = lines.length === PAGE ? lines.at(-1) : undefined;
    } while (after);
  }

  async function tell(event: WebhookEvent): Promise<void> {
    for (const { id, events } of webhooks) if (events?.includes(event.type) ?? true) await put(id, event);
  }

  async function put(endpoint: string, event: WebhookEvent): Promise<void> {
    const now = Date.now();
    await deliveries.update(`${endpoint}:${event.id}`, { endpoint, event, since: now, failures: 0, notBefore: now });
    count += 1;
  }
}
