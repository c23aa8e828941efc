import { mock } from "node:test";
import { expect } from "chai";
import type { AnyHandler, Call } from "../../../runtime/api/plugin.ts";
import { Problem, type ProblemOptions } from "../../../runtime/api/problem.ts";
import { createJobs, type FailedJob, type Jobs } from "../../../runtime/core/jobs/jobs.ts";
import type { JobQueue, QueuedJob, TurnResult } from "../../../runtime/core/jobs/queue.ts";
import { createJobRecords, type JobRecords } from "../../../runtime/core/jobs/records.ts";
import type { RefundCase } from "../../../runtime/core/refunds/records.ts";
import { createCompiler } from "../../../runtime/core/schema/validator.ts";
import { bindServices } from "../../../runtime/core/service.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import { createScriptedRail } from "../../support/chains/scripted-rail.ts";
import { toSite } from "../../support/sellers/dice.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";

const HOUR = 60 * 60_000;
const PAYMENT = { network: "eip155:8453", asset: "0x1", amount: "1000", payer: "0x9", transaction: "0x2" };
const never = new AbortController().signal;

describe("a turn of a job", () => {
  let now: number;
  let store: ReturnType<typeof createMemoryStore>;
  let records: JobRecords;
  let jobs: Jobs;
  let queued: QueuedJob[];
  let refunds: RefundCase[];
  let failed: FailedJob[];
  let work: (input: unknown, call: Call) => unknown;
  let take: (job: QueuedJob, signal: AbortSignal) => Promise<TurnResult>;
  const clock = { now: () => now };

  beforeEach(() => {
    [now, queued, refunds, failed] = [1_800_000_000_000, [], [], []];
    store = createMemoryStore(clock.now);
    records = createJobRecords({ store, clock });
    open();
  });
  afterEach(() => jobs.close());

  function open(): void {
    const handler: AnyHandler = (input: unknown, call: Call) => work(input, call);
    const object = { type: "object" } as const;
    const services = bindServices(
      [
        {
          id: "search",
          title: "search",
          description: "It searches.",
          route: "POST /v1/search",
          price: "0.001",
          handler: "work.search",
          input: object,
          output: object,
          tags: [],
          examples: [],
          job: {
            status_route: "GET /v1/search/{job_id}",
            eta_seconds: 120,
            deadline_seconds: 30,
            attempts: 20,
            concurrency: 2,
            queue_limit: 2,
            refund: true,
          },
        },
      ],
      {
        site: toSite([createScriptedRail()]),
        compile: createCompiler(new Map()),
        handlers: new Map([["work.search", handler]]),
        statusOf: () => () => Promise.reject(new Error("not asked")),
      },
    );
    const queue: JobQueue = {
      add: async (job) => void queued.push(job),
      count: async () => 0,
      start: (taken) => {
        take = taken;
      },
      list: async () => [],
      services: async () => [],
      adopt() {},
      abandon: async () => {},
      drain: async () => {},
      close: async () => {},
    };
    const refunder = {
      start() {},
      close: async () => {},
      status: async () => ({ refund_tx: null, refund_pending: null }),
      open: async (refund: RefundCase) => void refunds.push(refund),
    };
    jobs = createJobs({
      services,
      records,
      queue,
      refunds: refunder,
      onFailed: async (job) => void failed.push(job),
      clock,
      log: silentLog,
      baseUrl: "https://shop.test",
    });
    jobs.start();
  }
  const begin = async (service = "search"): Promise<QueuedJob> => {
    const { id } = await records.reserve({ service, input: {}, refund: true });
    await jobs.begin(id, PAYMENT);
    return { id, service, at: now };
  };
  const fail = (code: Problem["code"], options: ProblemOptions = {}): void => {
    work = () => {
      throw new Problem(code, "no", options);
    };
  };

  it("is given again where its record could not be read for once: the job is not lost", async () => {
    const job = await begin();
    work = () => ({});
    const get = mock.method(store, "get");
    get.mock.mockImplementationOnce(() => Promise.reject(new Problem("unavailable")));
    expect(await take(job, never).catch((error: Problem) => error.code)).to.equal("unavailable");
    expect(await take(job, never)).to.equal("done");
    expect((await records.readEnd(job.id))?.state).to.equal("DELIVERED");
    expect([refunds, failed]).to.deep.equal([[], []]);
  });

  it("that failed is followed by one after 5, 10, 20 … seconds, and five minutes at most", async () => {
    const job = await begin();
    fail("upstream-failed");
    const waits: TurnResult[] = [];
    for (let turn = 0; turn < 9; turn += 1) waits.push(await take(job, never));
    const seconds = [5, 10, 20, 40, 80, 160, 300, 300, 300];
    expect(waits).to.deep.equal(seconds.map((wait) => ({ retryInMs: wait * 1000 })));
  });

  it("is followed by one when its source has said, within five minutes; at once is no time", async () => {
    const job = await begin();
    for (const [retryAfter, seconds] of [
      [7, 7],
      [300, 300],
      [301, 300],
      [0, 40],
    ] as const) {
      fail("rate-limited", { retryAfter });
      expect(await take(job, never), String(retryAfter)).to.deep.equal({ retryInMs: seconds * 1000 });
    }
  });

  it("is the last one after 25 that broke off without a word, and its price is paid back", async () => {
    const job = await begin();
    fail("upstream-failed");
    for (let turn = 0; turn < 25; turn += 1) {
      const stopping = new AbortController();
      work = () => {
        stopping.abort();
        throw new Problem("unavailable");
      };
      expect(await take(job, stopping.signal), String(turn)).to.deep.equal({ retryInMs: 0 });
    }
    expect(await take(job, never)).to.equal("done");
    expect(await records.readEnd(job.id)).to.include({ state: "FAILED", error: "The work crashed again and again" });
    expect(refunds).to.deep.equal([{ id: job.id, service: "search", payment: PAYMENT }]);
  });

  it("shows at first that it is under way, and says nothing yet", async () => {
    const job = await begin();
    expect(await records.progress(job.id)).to.equal(undefined);
    work = () => ({});
    await take(job, never);
    expect(await records.progress(job.id)).to.deep.equal({ step: null, at: now });
    expect(await records.readEnd(job.id)).to.deep.equal({ state: "DELIVERED", at: now, deliverable: {} });
    expect(await take(job, never), "there is nothing left to do").to.equal("done");
    expect(refunds).to.deep.equal([]);
  });

  it("of a job that is only reserved, or unknown, does nothing but tell the seller that its record is lost", async () => {
    work = () => expect.fail("it is not paid");
    const { id } = await records.reserve({ service: "search", input: {}, refund: true });
    for (const unknown of [id, "none"])
      expect(await take({ id: unknown, service: "search", at: now }, never)).to.equal("done");
    expect(failed.map((job) => job.id)).to.deep.equal([id, "none"]);
    for (const { error } of failed) expect(error).to.match(/^The store has lost its record/);
    const begun = await jobs.begin("none", null).catch((error: unknown) => error);
    expect(begun).to.have.property("code", "internal");
  });

  it("of a paid job whose record is lost, and whose service is sold no more, pays its price back", async () => {
    const job = await begin("gone");
    await store.delete(`job:${job.id}`);
    expect(await take(job, never)).to.equal("done");
    expect(refunds).to.deep.equal([{ id: job.id, service: "gone", payment: PAYMENT }]);
  });

  it("begins once, however often it is begun, and not again when it is over", async () => {
    const job = await begin();
    now += 1000;
    await jobs.begin(job.id, null);
    expect(queued).to.deep.equal([job, job]);
    expect((await records.read(job.id))?.begun).to.deep.equal({ at: job.at, payment: PAYMENT });
    work = () => ({});
    await take(job, never);
    await jobs.begin(job.id, PAYMENT);
    expect(queued).to.have.length(2);
  });

  it("leaves the step that an earlier one has reached on show until it reaches one itself", async () => {
    const job = await begin();
    work = async (_, { step }) => {
      await step("reading", async () => {});
      throw new Problem("upstream-failed");
    };
    await take(job, never);
    fail("upstream-failed");
    await take(job, never);
    expect(await records.progress(job.id)).to.include({ step: "reading" });
  });

  it("of a service that is not offered here waits five seconds, and an hour at most", async () => {
    const job = await begin("other");
    expect(await take(job, never)).to.deep.equal({ retryInMs: 5000 });
    const began = performance.now();
    const monotonic = mock.method(performance, "now", () => began + HOUR);
    now += HOUR - 1;
    expect(await take(job, never)).to.deep.equal({ retryInMs: 5000 });
    now += 1;
    expect(await take(job, never)).to.equal("done");
    monotonic.mock.restore();
    expect(await records.readEnd(job.id)).to.include({ state: "FAILED", error: "The service is not offered any more" });
  });
});
