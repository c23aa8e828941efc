import { randomUUID } from "node:crypto";
import type { Clock } from "../../api/capabilities.ts";
import { readSound, toDamaged, unlessDamaged } from "../damage.ts";
import { sha256 } from "../digest.ts";
import { isObject } from "../json.ts";
import { isJobPayment, JOB_KEEP_MS } from "../refunds/records.ts";
import type { Store } from "../store.ts";
import type { JobPayment } from "../x402/x402.ts";

/** A job as it was accepted. */
export interface JobRecord {
  readonly id: string;
  /** The service's id. */
  readonly service: string;
  readonly input: unknown;
  /** The digest of the set that has accepted it; missing where that is unknown. */
  readonly set?: string | undefined;
  /** Whether the price is refunded when the job fails. */
  readonly refund: boolean;
  /** Milliseconds since the Unix epoch. */
  readonly reservedAt: number;
  /** Set when the work may begin; until then the job is only reserved. */
  readonly begun?: { readonly at: number; readonly payment: JobPayment | null };
}

/** The id that a text means: UUIDs are written in small letters, and read in any (RFC 9562). */
export const toJobId = (text: string): string => text.toLowerCase();

/** How a job ended. Only the first recorded end counts. */
export type JobEnd =
  | { readonly state: "DELIVERED"; readonly at: number; readonly deliverable: unknown }
  | {
      readonly state: "FAILED";
      readonly at: number;
      readonly error: string;
      /**
       * The seller has withdrawn or changed the service, or lost the record: the price is refunded, whatever the service
       * says of failures.
       */
      readonly isWithdrawn?: true;
    };

/** Whether a failed job's price is paid back. */
export const isOwedBack = ({ refund }: Pick<JobRecord, "refund">, end: JobEnd): boolean =>
  refund || (end.state === "FAILED" && end.isWithdrawn === true);

export interface JobProgress {
  /** A few words for people; null until the first step or report. */
  readonly step: string | null;
  readonly at: number;
}

/** The records of jobs. All writes but those of the progress are durable. */
export interface JobRecords {
  /** Records a new job under an unguessable id (122 random bits). The record expires unless the job begins. */
  reserve(job: Pick<JobRecord, "service" | "input" | "set" | "refund">): Promise<JobRecord>;
  /** @throws Problem `unavailable`, also when the record is damaged. */
  read(id: string): Promise<JobRecord | undefined>;
  /**
   * Rewrites the lost or damaged record of a job that has begun, without its input; undefined when the job is not known
   * to have begun.
   */
  recover(job: Pick<JobRecord, "id" | "service" | "refund">): Promise<JobRecord | undefined>;
  /**
   * Marks a job as paid or free. Only the first mark counts; undefined when there is no such job. A job that was paid for
   * begins even when its record is lost or damaged: `recover` rewrites the record.
   */
  begin(id: string, payment: JobPayment | null, service?: string): Promise<JobRecord | undefined>;
  /** Counts a turn of the job; returns the number so far. */
  countTurn(id: string): Promise<number>;
  /** Counts a failed turn; returns the number so far. */
  countFailure(id: string): Promise<number>;
  /** Records the progress of the work. */
  note(id: string, step: string | null): Promise<void>;
  progress(id: string): Promise<JobProgress | undefined>;
  /** The completed steps and when they ended: Unix milliseconds, 0 when unknown. Slow: for people only. */
  steps(id: string): Promise<readonly { readonly name: string; readonly at: number }[]>;
  /** The result of a completed step. */
  readStep(id: string, name: string): Promise<{ readonly value: unknown } | undefined>;
  /** Stores the result of a step. Only the first result counts, and is returned. */
  keepStep(id: string, name: string, value: unknown): Promise<unknown>;
  /** Records the end, and returns the end that counts. */
  end(id: string, end: JobEnd): Promise<JobEnd>;
  readEnd(id: string): Promise<JobEnd | undefined>;
  /** Marks a service as offered by a process, for `ttlMs`. */
  markOffered(service: string, ttlMs: number): Promise<void>;
  /** When a service was last known to be offered, in Unix milliseconds; undefined while a process offers it. */
  orphanedSince(service: string): Promise<number | undefined>;
  /** Marks for `ttlMs` whether a set is sold by one seller. */
  markSold(set: string, seller: string, isSold: boolean, ttlMs: number): Promise<void>;
  /** Whether anybody sells a set; undefined where no seller has a mark. */
  isSold(set: string): Promise<boolean | undefined>;
}

/**
 * Longer than a settlement that could begin the job: an authorization is valid for a day at most. A job that a shop finds
 * settled after it stood still for longer is paid back.
 */
const RESERVED_MS = 3 * 24 * 60 * 60_000;

/** Records in the store, each under its own keys. A write that must happen only once uses `putIfAbsent`. */
export function createJobRecords({ store, clock }: { readonly store: Store; readonly clock: Clock }): JobRecords {
  const read = (id: string): Promise<JobRecord | undefined> => readSound(store, `job:${id}`, isJobRecord, "job");

  /** Stores the value unless there is one; returns the stored value. */
  async function putOnce<T>(key: string, value: T): Promise<T> {
    if (await store.putIfAbsent(key, value, JOB_KEEP_MS)) return value;
    return (await store.get<T>(key)) ?? value;
  }

  const count = (key: string): Promise<number> =>
    store.incr(key, 1, JOB_KEEP_MS).catch((error: unknown) => {
      throw error instanceof TypeError ? toDamaged(key, error.message) : error; // It holds no number.
    });

  return {
    read,
    async reserve(job) {
      const record: JobRecord = { id: randomUUID(), ...job, reservedAt: clock.now() };
      await store.set(`job:${record.id}`, record, RESERVED_MS);
      return record;
    },
    async recover(job) {
      const begun = await readSound(store, `job-begun:${job.id}`, isBegun, "beginning of a job");
      if (!begun) return undefined;
      const record: JobRecord = { ...job, input: null, reservedAt: begun.at, begun };
      await store.set(`job:${job.id}`, record, JOB_KEEP_MS);
      return record;
    },
    async begin(id, payment, service) {
      const record = await read(id).catch(unlessDamaged);
      if (record ? record.begun : service === undefined) return record;
      const begun = await putOnce(`job-begun:${id}`, { at: clock.now(), payment });
      if (!record) return { id, service: service ?? "", input: null, refund: true, reservedAt: begun.at, begun };
      const next: JobRecord = { ...record, begun };
      await store.set(`job:${id}`, next, JOB_KEEP_MS);
      return next;
    },
    countTurn: (id) => count(`job-turns:${id}`),
    countFailure: (id) => count(`job-failures:${id}`),
    note: (id, step) => store.set(`job-progress:${id}`, { step, at: clock.now() }, JOB_KEEP_MS, "lazy"),
    progress: (id) => store.get<JobProgress>(`job-progress:${id}`),
    async readStep(id, name) {
      return store.get<{ value: unknown }>(stepKey(id, name));
    },
    async keepStep(id, name, value) {
      return (await putOnce(stepKey(id, name), { value, at: clock.now() })).value;
    },
    async steps(id) {
      const steps: { name: string; at: number }[] = [];
      for await (const key of store.keys(stepKey(id, ""))) {
        const step = await store.get<{ readonly at?: number }>(key);
        if (step) steps.push({ name: key.slice(stepKey(id, "").length), at: step.at ?? 0 });
      }
      return steps.sort((one, other) => one.at - other.at);
    },
    end: (id, end) => putOnce(`job-end:${id}`, end),
    readEnd: (id) => readSound(store, `job-end:${id}`, isJobEnd, "end of a job"),
    async markOffered(service, ttlMs) {
      await store.set(`job-offered:${service}`, true, ttlMs, "lazy");
      if (await store.get(orphanKey(service))) await store.delete(orphanKey(service), "lazy");
    },
    async orphanedSince(service) {
      return (await store.get(`job-offered:${service}`)) ? undefined : putOnce(orphanKey(service), clock.now());
    },
    markSold: async (set, seller, isSold, ttlMs) =>
      void (await store.join(sellersKey(set), seller, isSold ? 1 : 0, ttlMs)),
    async isSold(set) {
      const { members, weight } = await store.join(sellersKey(set), "who asks", 0, 1000);
      return members === 1 ? undefined : weight > 0;
    },
  };
}

const orphanKey = (service: string): string => `job-orphaned:${service}`;

const sellersKey = (set: string): string => `job-sellers:${set}`;

/** The key of a step; of a name that is too long for a key, the beginning and a digest. */
function stepKey(id: string, name: string): string {
  const key = `job-step:${id}:${name}`;
  if (key.length <= LONGEST_KEY) return key;
  return `${key.slice(0, LONGEST_KEY / 2).toWellFormed()}…${sha256(name)}`;
}

/** See `Store`. */
const LONGEST_KEY = 512;

const isJobRecord = (record: unknown): record is JobRecord =>
  isObject(record) &&
  typeof record.id === "string" &&
  typeof record.service === "string" &&
  (record.begun === undefined || isBegun(record.begun));

const isJobEnd = (end: unknown): end is JobEnd =>
  isObject(end) && (end.state === "DELIVERED" || (end.state === "FAILED" && typeof end.error === "string"));

const isBegun = (begun: unknown): begun is NonNullable<JobRecord["begun"]> =>
  isObject(begun) && typeof begun.at === "number" && (begun.payment === null || isJobPayment(begun.payment));
