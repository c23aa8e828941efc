import type { AnyHandler, Call } from "../../../runtime/api/plugin.ts";
import { createJobs } from "../../../runtime/core/jobs/jobs.ts";
import { createJobRecords } from "../../../runtime/core/jobs/records.ts";
import { createStatusOf } from "../../../runtime/core/jobs/status.ts";
import type { RefundState } from "../../../runtime/core/refunds/refunds.ts";
import { createCompiler } from "../../../runtime/core/schema/validator.ts";
import { bindServices, type Service } from "../../../runtime/core/service.ts";
import type { JobManifest, Manifest, SiteManifest } from "../../../runtime/core/set/manifest.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import { createMemoryLimiter } from "../../../runtime/drivers/memory-limiter.ts";
import { createStoreQueue } from "../../../runtime/drivers/queue/store.ts";
import { limitPolls } from "../../../runtime/server/request/limits.ts";
import type { Loose } from "../../surfaces/mcp/served/support/stall.ts";
import { createScriptedRail, type ScriptedRail } from "../chains/scripted-rail.ts";
import { createMemoryStore } from "../store/memory-store.ts";
import { createTestClock, type TestClock } from "../test-clock.ts";
import { toSite } from "./dice.ts";
import { openDoors } from "./doors.ts";
import { encode } from "./signed.ts";

/** The runtime on a free port with all its doors, and with job services whose work ends when the test says so. */
export interface JobShop {
  readonly url: string;
  readonly site: SiteManifest;
  readonly services: readonly Service[];
  readonly rail: ScriptedRail;
  readonly store: ReturnType<typeof createMemoryStore>;
  readonly clock: TestClock;
  /** Sets the deliverable. Until then, every attempt waits. */
  deliver(work: (input: Loose, call: Call) => unknown): void;
  /** The number of attempts. */
  executions: number;
  /** The refunds of failed jobs. */
  refund: RefundState;
  /** Makes a payment for an offer of this challenge. */
  pay(required: Loose): object;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  /** Gets the challenge, pays, and calls, over REST; returns the body that accepts the job. */
  buy(path: string, body: unknown): Promise<Loose>;
  close(): Promise<void>;
}

/** A schema of the set, for the `$ref` of a deliverable. */
const SCHEMAS: ReadonlyMap<string, object> = new Map([
  [
    "Finding",
    {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: { verdict: { type: "string", description: "What was found." } },
      required: ["verdict"],
    },
  ],
]);

const JOB: JobManifest = {
  status_route: "GET /v1/search/{job_id}",
  eta_seconds: 120,
  deadline_seconds: 30,
  attempts: 1,
  concurrency: 2,
  queue_limit: 10,
  refund: true,
};

const SEARCH: Manifest = {
  id: "search",
  title: "The search",
  description: "Searches for a long time.",
  route: "POST /v1/search",
  price: "0.35",
  handler: "work.search",
  input: { type: "object", properties: { what: { type: "string" } }, required: ["what"] },
  output: "Finding",
  tags: ["search"],
  hints: { readOnly: false },
  examples: [{ input: { what: "needle" }, output: { verdict: "found" } }],
  job: JOB,
};

const { price: _price, ...errand } = SEARCH;
const MANIFESTS: readonly Manifest[] = [
  SEARCH,
  { ...errand, id: "errand", route: "POST /v1/errand", job: { ...JOB, status_route: "GET /v1/errand/{job_id}" } },
];

export async function openJobShop(): Promise<JobShop> {
  const doors = await openDoors();
  const { url, pay } = doors;
  const ready = Promise.withResolvers<(input: Loose, call: Call) => unknown>();
  const clock = createTestClock();
  const rail = createScriptedRail();
  const site = toSite([rail]);
  const store = createMemoryStore(clock.now);
  const run = async (input: Loose, call: Call): Promise<unknown> => {
    shop.executions += 1;
    call.report("looking around");
    return (await ready.promise)(input, call);
  };
  const records = createJobRecords({ store, clock });
  const refunds = {
    open: async () => {},
    start() {},
    close: async () => {},
    status: async () => shop.refund,
  };
  const services = bindServices(MANIFESTS, {
    site,
    compile: createCompiler(SCHEMAS),
    handlers: new Map([["work.search", run as AnyHandler]]),
    statusOf: limitPolls(createStatusOf({ records, refunds, clock }), createMemoryLimiter),
  });
  const queue = createStoreQueue({ store, clock, log: silentLog, concurrencyOf: () => JOB.concurrency });
  const jobs = createJobs({ services, records, queue, refunds, clock, log: silentLog, baseUrl: url, stepGraceMs: 10 });
  await doors.sell({ site, services, schemas: SCHEMAS, jobs, rail, store, clock, log: silentLog });
  const shop: JobShop = {
    url,
    site,
    services,
    rail,
    store,
    clock,
    deliver: ready.resolve,
    executions: 0,
    refund: { refund_tx: null, refund_pending: null },
    pay,
    post: (path, body, headers = {}) =>
      fetch(url + path, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
      }),
    async buy(path, body) {
      const payment = pay(await (await shop.post(path, body)).json());
      const text = encode(payment);
      return (await shop.post(path, body, { "payment-signature": text })).json();
    },
    async close() {
      ready.resolve(() => ({ verdict: "closed" }));
      await doors.close();
    },
  };
  return shop;
}
