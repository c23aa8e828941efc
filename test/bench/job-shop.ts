import { setTimeout as sleep } from "node:timers/promises";
import type { AnyHandler, Call } from "../../runtime/api/plugin.ts";
import { createJobs, type Jobs } from "../../runtime/core/jobs/jobs.ts";
import type { JobQueue } from "../../runtime/core/jobs/queue.ts";
import { createJobRecords } from "../../runtime/core/jobs/records.ts";
import { createStatusOf } from "../../runtime/core/jobs/status.ts";
import { createCompiler } from "../../runtime/core/schema/validator.ts";
import type { StatusOf } from "../../runtime/core/service.ts";
import { bindServices, isJobService, type JobService, type Service } from "../../runtime/core/service.ts";
import type { Manifest } from "../../runtime/core/set/manifest.ts";
import { silentLog } from "../../runtime/core/silent-log.ts";
import { openBullmqQueue } from "../../runtime/drivers/queue/bullmq.ts";
import { createStoreQueue } from "../../runtime/drivers/queue/store.ts";
import type { OpenStore } from "../../runtime/drivers/store/keyv.ts";
import { openStore } from "../../runtime/drivers/store/open-store.ts";
import { ANSWER, INPUT, OUTPUT, SITE } from "./shop.ts";

/** The engine of jobs with one free service, whose work is one step of a few milliseconds, or one that never ends. */
export interface JobShop {
  readonly services: readonly Service[];
  readonly service: JobService;
  readonly store: OpenStore;
  readonly queue: JobQueue;
  readonly jobs: Jobs;
  close(): Promise<void>;
}

export const JOB_PATH = "/v1/job";
/** How many jobs one process works on at once. */
const CONCURRENCY = 10;

const MANIFEST: Manifest = {
  id: "job",
  title: "Job",
  description: "A job.",
  route: `POST ${JOB_PATH}`,
  handler: "bench.work",
  input: INPUT,
  output: OUTPUT,
  tags: [],
  examples: [],
  job: {
    status_route: `GET ${JOB_PATH}/{job_id}`,
    eta_seconds: 60,
    deadline_seconds: 3600,
    attempts: 1,
    concurrency: CONCURRENCY,
    queue_limit: 1_000_000,
    refund: false,
  },
};

/** @param place a folder for SQLite, or the URL of a Redis. @param pauseMs of the step; negative: it never ends. */
export async function openJobShop(place: string, pauseMs: number, baseUrl: string): Promise<JobShop> {
  const redisUrl = place.startsWith("redis:") ? place : undefined;
  const terms = { clock: { now: Date.now }, log: silentLog, concurrencyOf: () => CONCURRENCY };
  const store = await openStore({ redisUrl, dataDir: place });
  const ofRedis = { prefix: "bench-jobs", services: [MANIFEST.id], ...terms };
  const queue = redisUrl ? await openBullmqQueue({ url: redisUrl, ...ofRedis }) : createStoreQueue({ store, ...terms });
  const records = createJobRecords({ store, ...terms });
  const refunds = {
    open: async () => {},
    start() {},
    close: async () => {},
    status: async () => ({ refund_tx: null, refund_pending: null }),
  };
  const work: AnyHandler = (_input: unknown, { step }: Call) =>
    step("work", () => (pauseMs < 0 ? new Promise<never>(() => {}) : sleep(pauseMs, ANSWER)));
  const statusOf: StatusOf = createStatusOf({ records, refunds, ...terms });
  const services = bindServices([MANIFEST], {
    site: SITE,
    statusOf,
    compile: createCompiler(new Map()),
    handlers: new Map([["bench.work", work]]),
  });
  const jobs = createJobs({ services, records, queue, refunds, baseUrl, stepGraceMs: 0, ...terms });
  const [service] = services.filter(isJobService) as [JobService];
  return { services, service, store, queue, jobs, close: () => jobs.close().then(() => store.close()) };
}
