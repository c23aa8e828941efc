import type { Clock, Log } from "../../api/capabilities.ts";
import type { Store } from "../store.ts";
import { createLeases } from "../time/leases.ts";
import { type AttemptResult, type AttemptTerms, createSweeper } from "../time/sweeper.ts";
import { createDeliveries, type Delivery } from "./deliveries.ts";
import type { WebhookEvent, WebhookType } from "./events.ts";

export interface WebhookEndpoint {
  readonly id: string;
  /** The types of events that it receives; undefined means all. */
  readonly events?: readonly WebhookType[] | undefined;
}

/** Sends an event once. Returns a sentence when it was not accepted. Never rejects. */
export type PostWebhook = (endpoint: string, event: WebhookEvent, signal: AbortSignal) => Promise<string | undefined>;

/** Delivers events to receivers at least once, with retries for a day. */
export interface Outbox {
  /** Records an event for one receiver, whatever types it receives. @throws Problem `unavailable`. */
  publishTo(endpoint: string, event: WebhookEvent): Promise<void>;
  /** Resumes deliveries that this or another process left open, now and every few seconds. */
  start(): void;
  close(): Promise<void>;
}

export interface OutboxDeps {
  readonly endpoints: readonly WebhookEndpoint[];
  readonly post: PostWebhook;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly sweepMs?: number;
}

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
/** The waits after each failure; the last one is repeated. */
const WAITS_MS = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  30 * MINUTE_MS,
  HOUR_MS,
  2 * HOUR_MS,
  4 * HOUR_MS,
];
/** After this time a delivery is given up, once it has had all waits: in a shop that stood still, the time says nothing. */
const GIVE_UP_MS = 24 * HOUR_MS;
/** How many events are sent to one receiver concurrently. */
const AT_ONCE = 4;

export function createOutbox({ endpoints, post, store, clock, log, sweepMs = 5000 }: OutboxDeps): Outbox {
  const deliveries = createDeliveries(store);
  const onError = (error: unknown): void => log.warn("webhook.lease-failed", { error });
  const leases = createLeases({ store, prefix: "webhook-lease:", onError, reclaims: true });
  const sweeper = createSweeper<Delivery>({
    list,
    read: readDue,
    claim: leases.claim,
    attempt,
    onError,
    onOutage: (error) => log.error("webhook.sweep-failed", { error }),
    firstMs: WAITS_MS[0] as number,
    longestMs: HOUR_MS,
    sweepMs,
    laneOf: (key) => key.slice(0, key.indexOf(":")),
    limitOf: () => AT_ONCE,
  });

  return {
    publishTo,
    start: sweeper.start,
    async close() {
      await sweeper.close();
      leases.close();
    },
  };

  async function publishTo(endpoint: string, event: WebhookEvent): Promise<void> {
    const now = clock.now();
    const key = await deliveries.add({ endpoint, event, since: now, failures: 0, notBefore: now });
    sweeper.schedule(key);
  }

  async function* list(): AsyncGenerator<string> {
    for (const { id } of endpoints) yield* deliveries.list(id);
  }

  async function readDue(key: string): Promise<Delivery | undefined> {
    const delivery = await deliveries.read(key);
    if (!delivery) return undefined;
    const leftMs = delivery.notBefore - clock.now();
    // More than the whole wait is left when the clock was set back since.
    return leftMs <= 0 || leftMs > waitAfter(delivery.failures) ? delivery : undefined;
  }

  async function attempt(key: string, delivery: Delivery, { signal }: AttemptTerms): Promise<AttemptResult> {
    const { endpoint, event, since } = delivery;
    const reason = await post(endpoint, event, signal);
    if (reason === undefined) {
      await deliveries.end(key);
      return "done";
    }
    if (signal.aborted) return "done"; // The next process tries again.
    if ((await deliveries.read(key))?.since !== since) return "done"; // Somebody has asked for it anew meanwhile.
    const about = { endpoint, message: event.id, type: event.type, reason };
    const ageMs = clock.now() - since;
    const failures = delivery.failures + 1;
    if (ageMs >= GIVE_UP_MS && failures > WAITS_MS.length) {
      log.error("webhook.given-up", { ...about, failures });
      await deliveries.giveUp(key, { ...delivery, failures, reason });
      return "done";
    }
    const leftMs = ageMs < GIVE_UP_MS ? GIVE_UP_MS - ageMs : Number.POSITIVE_INFINITY;
    const waitMs = Math.min(waitAfter(failures), leftMs);
    log.warn("webhook.failed", { ...about, failures, retryMs: waitMs });
    await deliveries.update(key, { ...delivery, failures, reason, notBefore: clock.now() + waitMs });
    // A long wait is left to the sweeps, which notice when the message is to be sent again at once.
    return waitMs <= sweepMs ? { retryInMs: waitMs } : "done";
  }
}

/** The wait after so many failures, in milliseconds. */
const waitAfter = (failures: number): number => WAITS_MS[Math.min(failures, WAITS_MS.length) - 1] ?? 0;
