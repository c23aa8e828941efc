import { createServer } from "node:http";
import type { AnyHandler, Call } from "../../../runtime/api/plugin.ts";
import { Problem } from "../../../runtime/api/problem.ts";
import { createJobs } from "../../../runtime/core/jobs/jobs.ts";
import { createJobRecords } from "../../../runtime/core/jobs/records.ts";
import { createStatusOf, type JobStatus } from "../../../runtime/core/jobs/status.ts";
import { createPayments } from "../../../runtime/core/payments.ts";
import type { RefundCase } from "../../../runtime/core/refunds/records.ts";
import { createCompiler } from "../../../runtime/core/schema/validator.ts";
import { bindServices } from "../../../runtime/core/service.ts";
import type { JobManifest, Manifest } from "../../../runtime/core/set/manifest.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import type { Store } from "../../../runtime/core/store.ts";
import type { PaymentRequired } from "../../../runtime/core/x402/x402.ts";
import { createMemoryLimiter } from "../../../runtime/drivers/memory-limiter.ts";
import { createStoreQueue } from "../../../runtime/drivers/queue/store.ts";
import { closeServer, listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";
import { createApp } from "../../../runtime/server/app.ts";
import { createScriptedRail, type ScriptedRail } from "../../support/chains/scripted-rail.ts";
import { eventually } from "../../support/eventually.ts";
import { toSite } from "../../support/sellers/dice.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";
import { createTestClock, type TestClock } from "../../support/test-clock.ts";

type Work = (input: { what: string }, call: Call) => unknown;

export interface StageOptions {
  /** The schema of its input; by default it may have a text. */
  readonly input?: object;
  readonly job?: Partial<JobManifest>;
  /** What it is sold under after a restart, when it is not the same. */
  readonly id?: string;
}

/** Sells one job for money and one for nothing, over real HTTP, on a rail and a store whose every word a test decides. */
export interface Stage {
  readonly rail: ScriptedRail;
  readonly store: ReturnType<typeof createMemoryStore>;
  readonly clock: TestClock;
  /** Whether the work could be done now, asked before the money moves. */
  ready: () => Promise<void>;
  /** What each attempt does. */
  work: Work;
  /** The inputs of all attempts so far. */
  readonly attempts: string[];
  /** The refunds that were opened. */
  readonly refunds: RefundCase[];
  /** Makes the store reject the next so many of these calls for keys that begin with a prefix. */
  fail(method: "get" | "set" | "putIfAbsent" | "incr" | "refund", prefix: string, times?: number): void;
  post(path: string, body: unknown, payment?: string, signal?: AbortSignal): Promise<Response>;
  /** A payment of the offer for the paid job, as its header says it. */
  pay(): Promise<string>;
  /** Buys the paid job: its id. */
  buy(what: string): Promise<string>;
  status(id: string, service?: string): Promise<JobStatus>;
  ended(id: string): Promise<JobStatus>;
  /** The ids of the jobs on record, paid or not. */
  ids(): string[];
  /** Waits until no job is in line. */
  outOfLine(): Promise<unknown>;
  /** When the only job in line may have its next turn. */
  notBefore(): number;
  /** Another process on the same store. */
  restart(change?: StageOptions): Promise<void>;
  close(): Promise<void>;
}

const JOB: JobManifest = {
  status_route: "GET /v1/search/{job_id}",
  eta_seconds: 120,
  deadline_seconds: 30,
  attempts: 3,
  concurrency: 2,
  queue_limit: 100,
  refund: true,
};
const OUTPUT = { type: "object", properties: { found: { type: "string" } }, required: ["found"] };
const INPUT = { type: "object", properties: { what: { type: "string" } }, required: ["what"] };
const toManifest = (id: string, job: Partial<JobManifest> = {}, input: object = INPUT): Manifest => ({
  id,
  title: id,
  description: `The service ${id}.`,
  route: `POST /v1/${id}`,
  handler: "work.search",
  input,
  output: OUTPUT,
  tags: [],
  examples: [],
  job: { ...JOB, status_route: `GET /v1/${id}/{job_id}`, ...job },
});

export async function openStage(options: StageOptions = {}): Promise<Stage> {
  const clock = createTestClock();
  const rail = createScriptedRail();
  const store = createMemoryStore(clock.now);
  const faults: { method: string; prefix: string; times: number }[] = [];
  const attempts: string[] = [];
  const refunds: RefundCase[] = [];
  let nonce = 0;

  const stumble = async (method: string, key: string): Promise<void> => {
    const fault = faults.find((one) => one.method === method && key.startsWith(one.prefix) && one.times > 0);
    if (!fault) return;
    fault.times -= 1;
    throw new Problem("unavailable", "The store is away");
  };
  const failing: Store = {
    ...store,
    get: (key) => stumble("get", key).then(() => store.get(key)),
    set: (key, ...rest) => stumble("set", key).then(() => store.set(key, ...rest)),
    enter: (event, entry) => stumble("set", entry.key).then(() => store.enter(event, entry)),
    putIfAbsent: (key, ...rest) => stumble("putIfAbsent", key).then(() => store.putIfAbsent(key, ...rest)),
    incr: (key, ...rest) => stumble("incr", key).then(() => store.incr(key, ...rest)),
  };

  /** What is in line, as the queue has written it. */
  const queued = (): string[] =>
    [...store.entries].flatMap(([key, value]) => (key.startsWith("queue:") ? [(value as { text: string }).text] : []));

  const stage: Stage = {
    rail,
    store,
    clock,
    attempts,
    refunds,
    ready: async () => {},
    work: ({ what }) => ({ found: what }),
    fail: (method, prefix, times = 1) => void faults.push({ method, prefix, times }),
    post: (path, body, payment, signal) =>
      fetch(running.url + path, {
        method: "POST",
        ...(signal && { signal }),
        headers: { "content-type": "application/json", ...(payment !== undefined && { "payment-signature": payment }) },
        body: JSON.stringify(body),
      }),
    async pay() {
      const { accepts, resource } = (await (await stage.post("/v1/search", {})).json()) as PaymentRequired;
      nonce += 1;
      const authorization = {
        from: "0x1111111111111111111111111111111111111111",
        to: accepts[0]?.payTo,
        value: accepts[0]?.amount,
        validAfter: "0",
        validBefore: String(Math.floor(clock.now() / 1000) + 300),
        nonce: `0x${nonce.toString(16).padStart(64, "0")}`,
      };
      const payload = { signature: `0x${nonce.toString(16).padStart(130, "0")}`, authorization };
      return Buffer.from(JSON.stringify({ x402Version: 2, accepted: accepts[0], payload, resource })).toString(
        "base64",
      );
    },
    async buy(what) {
      const response = await stage.post("/v1/search", { what }, await stage.pay());
      if (response.status !== 200) throw new Error(`not sold: ${response.status} ${await response.text()}`);
      return ((await response.json()) as { job_id: string }).job_id;
    },
    status: async (id, service = "search") =>
      (await fetch(`${running.url}/v1/${service}/${id}`)).json() as Promise<JobStatus>,
    ended: (id) =>
      eventually(
        () => stage.status(id),
        ({ status }) => status === "DELIVERED" || status === "FAILED",
      ),
    ids: () => [...store.entries.keys()].flatMap((key) => (key.startsWith("job:") ? [key.slice(4)] : [])),
    outOfLine: () => eventually(() => queued().length === 0),
    notBefore() {
      const [text] = queued();
      return text === undefined ? 0 : (JSON.parse(text) as { notBefore: number }).notBefore;
    },
    async restart(change = options) {
      await running.close();
      running = await run(change);
    },
    close: () => running.close(),
  };
  let running = await run(options);
  return stage;

  async function run({
    job,
    id = "search",
    input,
  }: StageOptions): Promise<{ url: string; close: () => Promise<void> }> {
    const server = createServer();
    const url = await listenOnLoopback(server);
    const site = toSite([rail]);
    const records = createJobRecords({ store: failing, clock });
    const refunder = {
      start() {},
      close: async () => {},
      status: async () => ({ refund_tx: null, refund_pending: null }),
      async open(refund: RefundCase) {
        await stumble("refund", refund.id);
        if (refunds.every((known) => known.id !== refund.id)) refunds.push(refund);
      },
    };
    const handler: AnyHandler = {
      ready: () => stage.ready(),
      run(input: { what: string }, call: Call) {
        attempts.push(input.what);
        return stage.work(input, call);
      },
    };
    const services = bindServices([{ ...toManifest(id, job, input), price: "0.001" }, toManifest("errand", job)], {
      site,
      compile: createCompiler(new Map()),
      handlers: new Map([["work.search", handler]]),
      statusOf: createStatusOf({ records, refunds: refunder, requeue: (lost) => queue.add(lost), clock }),
    });
    const concurrencyOf = (): number => job?.concurrency ?? JOB.concurrency;
    const terms = { log: silentLog, clock };
    const queue = createStoreQueue({ ...terms, store: failing, concurrencyOf, sweepMs: 20, troubleMs: 20 });
    const bounds = { baseUrl: url, retryMs: 20, orphansMs: 20, stepGraceMs: 20_000 };
    const jobs = createJobs({ ...terms, ...bounds, services, records, queue, refunds: refunder });
    const payments = createPayments({ ...terms, site, services, rails: [rail], jobs, store: failing });
    await payments.start();
    jobs.start();
    const { invoke, offers } = payments;
    const ready = (): Promise<never> => Promise.reject(new Error("not asked"));
    const place = { site: { ...site, baseUrl: url }, limits: site.limits, createLimiter: createMemoryLimiter };
    server.on("request", createApp({ ...terms, ...place, services, invoke, challenge: offers.challenge, ready }));
    return {
      url,
      async close() {
        payments.close();
        await jobs.close();
        await closeServer(server);
      },
    };
  }
}
