import type { Clock, Log } from "../../api/capabilities.ts";
import { unlessDamaged } from "../damage.ts";
import type { FailedJob } from "../jobs/jobs.ts";
import type { RefundRecords } from "../refunds/records.ts";
import type { Store } from "../store.ts";
import { createRounds } from "../time/rounds.ts";
import { restAfter } from "../time/sweeper.ts";
import type { Distrust, RailStatus } from "../x402/rails.ts";
import type { WebhookEvent } from "./events.ts";
import type { Outbox, WebhookEndpoint } from "./outbox.ts";

/** Sends events about troubles that need the operator's attention. */
export interface Troubles {
  /** Records the event of a failed job. @throws Problem `unavailable`. */
  jobFailed(job: FailedJob): Promise<void>;
  /** Checks rails, facilitators and refunds, now and periodically. */
  start(): void;
  close(): Promise<void>;
}

export interface TroublesDeps {
  readonly endpoints: readonly WebhookEndpoint[];
  readonly outbox: Pick<Outbox, "publishTo">;
  /** Keyed by the rail's id. */
  readonly railStatuses: () => ReadonlyMap<string, RailStatus>;
  /** The facilitators that are distrusted now. */
  readonly distrusted: () => readonly Distrust[];
  readonly refunds: Pick<RefundRecords, "list">;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
}

const EVERY_MS = 10_000;
const MINUTE_MS = 60_000;
/** A shorter outage of a rail is not reported. */
const DOWN_MS = MINUTE_MS;
/** After a report, a rail is not reported again for an hour. */
const HOUR_MS = 60 * MINUTE_MS;
const TOLD_MS = 90 * 24 * HOUR_MS;

export function createTroubles(deps: TroublesDeps): Troubles {
  const { endpoints, outbox, railStatuses, distrusted, refunds, store, clock, log } = deps;
  /** When the refunds may be listed again. */
  let restsUntil = 0;
  const rounds = createRounds(async () => {
    await Promise.all([lookAtRails(), lookAtFacilitators(), lookAtRefunds()]).catch((error: unknown) =>
      log.warn("webhook.look-failed", { error }),
    );
    return EVERY_MS;
  });

  return {
    jobFailed: ({ id, service, error, at }) =>
      tellOnce({ id: `job.failed_${id}`, type: "job.failed", at, data: { job_id: id, service, error } }),
    start: rounds.start,
    close: rounds.close,
  };

  async function lookAtRails(): Promise<void> {
    const now = clock.now();
    for (const [rail, status] of railStatuses()) {
      // Absolute: a clock that was set back delays nothing.
      if (status.state === "up" || Math.abs(now - status.since) < DOWN_MS) continue;
      const data = { rail, reason: status.reason, since: new Date(status.since).toISOString() };
      const id = `rail.down_${rail}_${Math.floor(now / HOUR_MS)}`;
      await tellOnce({ id, type: "rail.down", at: now, data }, { mark: `rail.down_${rail}`, forMs: HOUR_MS });
    }
  }

  /** Reports each distrusted facilitator at once, and again when it was trusted in between. */
  async function lookAtFacilitators(): Promise<void> {
    for (const { facilitator, network, reason, since } of distrusted()) {
      const data = { facilitator, network, reason, since: new Date(since).toISOString() };
      const id = `facilitator.distrusted_${facilitator}_${network}_${since}`;
      await tellOnce({ id, type: "facilitator.distrusted", at: since, data });
    }
  }

  async function lookAtRefunds(): Promise<void> {
    const began = performance.now();
    if (began < restsUntil) return;
    for await (const { id, state, service, payment, reason } of refunds.list()) {
      if (state !== "manual") continue;
      const { network, asset, amount, payer, transaction } = payment;
      const data = { job_id: id, service, reason, network, asset, amount, payer, transaction };
      await tellOnce({ id: `refund.manual_${id}`, type: "refund.manual", at: clock.now(), data });
    }
    restsUntil = performance.now() + restAfter(began);
  }

  /**
   * Each receiver is told once, so that a new one hears of what still waits. Records the event first and the mark
   * afterwards: a crash in between repeats the event.
   */
  async function tellOnce(event: WebhookEvent, { mark = event.id, forMs = TOLD_MS } = {}): Promise<void> {
    for (const { id, events } of endpoints) {
      const key = `webhook-told:${id}:${mark}`;
      if (!(events?.includes(event.type) ?? true) || (await store.get(key).catch(unlessDamaged))) continue;
      await outbox.publishTo(id, event);
      await store.set(key, true, forMs, "lazy");
    }
  }
}
