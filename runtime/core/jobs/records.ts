import { randomUUID } from "node:crypto";
import type { Clock } from "../../api/capabilities.ts";
import { JOB_KEEP_MS } from "../refunds/records.ts";
import type { Store } from "../store.ts";
import type { JobPayment } from "../x402/x402.ts";

/** A job as it was accepted. */
export interface JobRecord {
  readonly id: string;
  /** The service's id. */
  readonly service: string;
  readonly input: unknown;
  /** Whether its price is paid back when it has failed. */
  readonly refund: boolean;
  /** Milliseconds since the Unix epoch. */
  readonly reservedAt: number;
  /** Set as soon as the job may be worked on; before that it is only reserved. */
  readonly begun?: { readonly at: number; readonly payment: JobPayment | null };
}

/** How a job ended. The first end that is put on record is the only one. */
export type JobEnd =
  | { readonly state: "DELIVERED"; readonly at: number; readonly deliverable: unknown }
  | { readonly state: "FAILED"; readonly at: number; readonly error: string };

/** Where a job's work stands. */
export interface JobProgress {
  /** A word or a sentence for people; null while the work has said nothing. */
  readonly step: string | null;
  readonly at: number;
}

/** Jobs on record. Everything is durable but the progress. */
export interface JobRecords {
  /** A new job under an id that nobody can guess (122 random bits). It is forgotten unless it is begun. */
  reserve(job: Pick<JobRecord, "service" | "input" | "refund">): Promise<JobRecord>;
  read(id: string): Promise<JobRecord | undefined>;
  /** Marks a job as paid, or as free. The first mark counts; undefined when there is no such job. */
  begin(id: string, payment: JobPayment | null): Promise<JobRecord | undefined>;
  /** Counts the turns that a job was given, this one included. */
  countTurn(id: string): Promise<number>;
  /** Counts the turns that failed, this one included. */
  countFailure(id: string): Promise<number>;
  /** Tells that the work is going on, and at what. */
  note(id: string, step: string | null): Promise<void>;
  progress(id: string): Promise<JobProgress | undefined>;
  /** The steps that are done, by when: Unix milliseconds, 0 where that is not known. For people: slow. */
  steps(id: string): Promise<readonly { readonly name: string; readonly at: number }[]>;
  /** What a step gave, once it was done. */
  readStep(id: string, name: string): Promise<{ readonly value: unknown } | undefined>;
  /** Keeps what a step gave. The first value counts, and is given back. */
  keepStep(id: string, name: string, value: unknown): Promise<unknown>;
  /** Puts the end on record, and gives back the one that counts. */
  end(id: string, end: JobEnd): Promise<JobEnd>;
  readEnd(id: string): Promise<JobEnd | undefined>;
  /** Marks a service as offered by a process, for `ttlMs`. */
  markOffered(service: string, ttlMs: number): Promise<void>;
  /** Since when no process has been known to offer a service, in Unix milliseconds; undefined while one offers it. */
  orphanedSince(service: string): Promise<number | undefined>;
}

/**
 * A reservation outlives every settlement that could still begin it: an authorization is good for a day at most, and what
 * became of it is looked for during another one.
 */
const RESERVED_MS = 3 * 24 * 60 * 60_000;

/** Records in the store, each under keys of its own. A change that must happen once is put there if it is absent. */
export function createJobRecords({ store, clock }: { readonly store: Store; readonly clock: Clock }): JobRecords {
  const read = (id: string): Promise<JobRecord | undefined> => store.get<JobRecord>(`job:${id}`);

  /** The value that was there first. */
  async function putOnce<T>(key: string, value: T): Promise<T> {
    if (await store.putIfAbsent(key, value, JOB_KEEP_MS)) return value;
    return (await store.get<T>(key)) ?? value;
  }

  return {
    read,
    async reserve(job) {
      const record: JobRecord = { id: randomUUID(), ...job, reservedAt: clock.now() };
      await store.set(`job:${record.id}`, record, RESERVED_MS);
      return record;
    },
    async begin(id, payment) {
      const record = await read(id);
      if (!record || record.begun) return record;
      const begun = await putOnce(`job-begun:${id}`, { at: clock.now(), payment });
      const next: JobRecord = { ...record, begun };
      await store.set(`job:${id}`, next, JOB_KEEP_MS);
      return next;
    },
    countTurn: (id) => store.incr(`job-turns:${id}`, 1, JOB_KEEP_MS),
    countFailure: (id) => store.incr(`job-failures:${id}`, 1, JOB_KEEP_MS),
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
    readEnd: (id) => store.get<JobEnd>(`job-end:${id}`),
    async markOffered(service, ttlMs) {
      await store.set(`job-offered:${service}`, true, ttlMs, "lazy");
      if (await store.get(orphanKey(service))) await store.delete(orphanKey(service), "lazy");
    },
    async orphanedSince(service) {
      return (await store.get(`job-offered:${service}`)) ? undefined : putOnce(orphanKey(service), clock.now());
    },
  };
}

const orphanKey = (service: string): string => `job-orphaned:${service}`;

const stepKey = (id: string, name: string): string => `job-step:${id}:${name}`;
