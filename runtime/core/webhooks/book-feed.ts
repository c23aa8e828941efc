import type { Clock, Log } from "../../api/capabilities.ts";
import type { BookLine, Books } from "../books/books.ts";
import type { Store } from "../store.ts";
import { untilAborted } from "../time/deadline.ts";
import { createLeases } from "../time/leases.ts";
import { createRounds } from "../time/rounds.ts";
import type { Deliveries } from "./deliveries.ts";
import type { WebhookEvent, WebhookType } from "./events.ts";
import type { Outbox, WebhookEndpoint } from "./outbox.ts";

/** Sends the lines of the shop's book to receivers, each from its own position on; in one process at a time. */
export interface BookFeed {
  start(): void;
  close(): Promise<void>;
}

export interface BookFeedDeps {
  readonly endpoints: readonly WebhookEndpoint[];
  readonly openBooks: () => Promise<Pick<Books, "refresh" | "since" | "find" | "lines">>;
  readonly outbox: Pick<Outbox, "publishTo">;
  readonly deliveries: Pick<Deliveries, "list">;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly everyMs?: number;
}

/** The last line that a receiver got; none when the book was empty at the receiver's start. */
interface Cursor {
  readonly seq: number;
  readonly id?: string;
}

const EVERY_MS = 2000;
const PAGE = 200;
/** With this many waiting messages a receiver gets no further lines; the book keeps them. */
const MOST_WAITING = 1000;
/** They are counted after this many lines: with Redis, counting reads the names of all keys. */
const COUNT_AFTER = 100;
const TYPES: Readonly<Record<BookLine["kind"], WebhookType>> = {
  sale: "sale",
  refund: "refund",
  reversal: "sale.reversed",
  restoration: "sale.restored",
};

export function createBookFeed(deps: BookFeedDeps): BookFeed {
  const { endpoints, openBooks, outbox, deliveries, store, clock, log, everyMs = EVERY_MS } = deps;
  let startedAt = 0;
  const onError = (error: unknown): void => log.warn("webhook.feed-failed", { error });
  const leases = createLeases({ store, prefix: "webhook-feed:", onError, reclaims: true });
  const listening = endpoints.filter(({ events }) =>
    Object.values(TYPES).some((type) => events?.includes(type) ?? true),
  );
  /** How many more lines a receiver gets before its waiting messages are counted. */
  const uncounted = new Map<string, number>();
  const closing = new AbortController();
  let isOutage = false;
  const rounds = createRounds(async () => {
    try {
      await feedAll();
      isOutage = false;
    } catch (error) {
      if (!isOutage && !rounds.isClosed()) onError(error);
      isOutage = true;
    }
    return everyMs;
  });

  return {
    start: () => {
      startedAt = clock.now();
      if (listening.length > 0) rounds.start();
    },
    async close() {
      closing.abort();
      await rounds.close();
      leases.close();
    },
  };

  async function feedAll(): Promise<void> {
    const books = await openBooks();
    const failures: unknown[] = [];
    for (const endpoint of listening) {
      const lease = rounds.isClosed() ? undefined : await leases.claim(endpoint.id);
      const fed = lease && feed(endpoint, books).finally(() => lease.release());
      await fed?.catch((error: unknown) => failures.push(error)); // The other receivers get theirs.
    }
    if (failures.length > 0) throw failures[0];
  }

  async function feed(
    { id, events }: WebhookEndpoint,
    books: Pick<Books, "refresh" | "since" | "find" | "lines">,
  ): Promise<void> {
    // Under the lease, because another process may have sent lines that this one had not read. A copy of a whole book takes minutes.
    await untilAborted(books.refresh(), closing.signal);
    const known = await store.get<Cursor>(`webhook-cursor:${id}`);
    const cursor = known ?? newest(books, startedAt);
    if (!known) await store.set(`webhook-cursor:${id}`, cursor);
    const lines = books.since(placeOf(cursor, books), PAGE);
    const rest = uncounted.get(id) ?? 0;
    if (lines.length === 0 || (rest <= 0 && (await isFull(id)))) return;
    uncounted.set(id, (rest > 0 ? rest : COUNT_AFTER) - lines.length);
    for (const line of lines) {
      const event = toBookEvent(line);
      if (events?.includes(event.type) ?? true) await outbox.publishTo(id, event);
      // Stored after each line, so that a crash repeats at most one event.
      const told: Cursor = { seq: line.seq, id: line.id };
      await store.set(`webhook-cursor:${id}`, told, undefined, line === lines.at(-1) ? "durable" : "lazy");
    }
  }

  async function isFull(endpoint: string): Promise<boolean> {
    let waiting = 0;
    for await (const _ of deliveries.list(endpoint)) waiting += 1;
    return waiting >= MOST_WAITING;
  }
}

/** A new receiver gets only what happens from the start on, also while the book is opened. */
function newest(books: Pick<Books, "lines">, startedAt: number): Cursor {
  const [line] = books.lines({ to: startedAt }, { limit: 1, order: "newest-first" });
  return line ? { seq: line.seq, id: line.id } : { seq: 0 };
}

/**
 * The number of a line in this machine's book, where it may differ from the number on another machine. When the book no
 * longer has the line, everything left in the book is newer.
 */
function placeOf({ seq, id }: Cursor, books: Pick<Books, "find">): number {
  if (id === undefined) return seq;
  return books.find(id).find((line) => line.id === id)?.seq ?? 0;
}

export function toBookEvent(line: BookLine): WebhookEvent {
  const { id, kind, of, at, service, door, rail, network, asset, decimals, amount, usd } = line;
  const { payer, receiver, transaction, requestId: request_id, job: job_id } = line;
  const terms = { service, door, rail, network, asset, decimals, amount, usd, payer, receiver, transaction };
  const data = { id, ...(kind !== "sale" && { sale: of }), ...terms, request_id, job_id };
  return { id, type: TYPES[kind], at, data };
}
