import type { Clock, Log } from "../../api/capabilities.ts";
import type { Books } from "../../core/books/books.ts";
import { createJobFailures } from "../../core/jobs/failures.ts";
import { createJobs, type FailedJob, type Jobs, type JobsDeps } from "../../core/jobs/jobs.ts";
import { createJobPlaces, type JobPlaces, withPlaces } from "../../core/jobs/places.ts";
import type { JobQueue } from "../../core/jobs/queue.ts";
import { createJobRecords } from "../../core/jobs/records.ts";
import { createStatusOf } from "../../core/jobs/status.ts";
import type { CreateLimiter } from "../../core/limiter.ts";
import type { ScreenRecipient } from "../../core/refunds/attempt.ts";
import type { RefundRail } from "../../core/refunds/rail.ts";
import { createRefunds, type Refunds, type RefundsDeps } from "../../core/refunds/refunds.ts";
import { askAbout } from "../../core/rules/screening.ts";
import { isJobService, type Service, type StatusOf } from "../../core/service.ts";
import type { SiteManifest } from "../../core/set/manifest.ts";
import type { Store } from "../../core/store.ts";
import { openBullmqQueue } from "../../drivers/queue/bullmq.ts";
import { createStoreQueue } from "../../drivers/queue/store.ts";
import { limitPolls } from "../../server/request/limits.ts";
import type { Config } from "../config/config.ts";

export interface JobEngineDeps {
  readonly site: SiteManifest;
  /** The digest of the set that is sold. */
  readonly set?: string | undefined;
  readonly config: Config;
  readonly baseUrl: string;
  /** Undefined when the site has no automatic refunds. */
  readonly refundRail: RefundRail | undefined;
  /** Whether the chains end with the process: what was paid on those of an earlier one is paid back all the same. */
  readonly isSandbox?: boolean;
  readonly store: Store;
  /** When omitted, damaged records of refunds are not written anew. */
  readonly openBooks?: (() => Promise<Books>) | undefined;
  readonly createLimiter: CreateLimiter;
  /** Called with each job that has failed for good, until a call succeeds. */
  readonly onFailed?: JobsDeps["onFailed"];
  readonly onEnded?: JobsDeps["onEnded"];
  /** Those of all sets of the process; when omitted, this set has its own. */
  readonly places?: JobPlaces | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** Jobs, their queue and their refunds. */
export interface JobEngine {
  readonly statusOf: StatusOf;
  readonly refunds: Pick<Refunds, "open" | "status">;
  /** Opens the queue. To be called once, with all services: retired ones before those that have their ids now. */
  open(services: readonly Service[]): Promise<OpenJobs>;
}

/** Jobs whose queue is open. */
export interface OpenJobs
  extends Pick<Jobs, "reserve" | "begin" | "inLine" | "servicesInLine" | "list" | "start" | "drain" | "close"> {
  /** Takes over at once the refunds that an earlier set of this process left open. */
  takeOver(): void;
}

/** The queue is in Redis when REDIS_URL is set, shared by any number of processes; otherwise in the embedded store. */
export function createJobEngine(deps: JobEngineDeps): JobEngine {
  const { site, set, config, baseUrl, refundRail, isSandbox = false } = deps;
  const { store, openBooks, createLimiter, onFailed, onEnded, places = createJobPlaces(), clock, log } = deps;
  const records = createJobRecords({ store, clock });
  let screen: Service | undefined;
  const screenRecipient: ScreenRecipient = async (wallet, signal) => {
    // The check of the set has found a screening service.
    if (!screen) throw new TypeError("no service screens recipients");
    return (await askAbout(wallet, screen, ["sanctions_match"], signal)) ? "sanctioned" : "clear";
  };
  const findSold = openBooks && createSoldSearch(openBooks);
  const rail = refundRail && isSandbox ? { ...refundRail, holds: async () => true } : refundRail;
  const refunds = createRefunds({ store, clock, log, rail, screenRecipient, findSold });

  const failures = createJobFailures(store);
  const noteFailed = async (job: FailedJob): Promise<void> => {
    await failures.note(job);
    await onFailed?.(job);
  };

  let queue: JobQueue | undefined;
  const requeue: JobQueue["add"] = async (job) => queue?.add(job);
  return {
    refunds,
    statusOf: limitPolls(createStatusOf({ records, refunds, requeue, clock }), createLimiter),
    async open(services) {
      screen = services.findLast(({ manifest }) => manifest.id === site.refunds?.screen);
      const selling = services.filter(isJobService);
      const terms = new Map(selling.map(({ manifest, job }) => [manifest.id, job.manifest]));
      const concurrencyOf = (service: string): number => terms.get(service)?.concurrency ?? 1;
      const hasPlace = (service: string): boolean => places.hasFree(service, concurrencyOf(service));
      const ofRedis = { prefix: "payphone-jobs", concurrencyOf, log };
      const kept =
        config.redisUrl === undefined
          ? createStoreQueue({ store, clock, log, concurrencyOf, hasPlace })
          : await openBullmqQueue({ url: config.redisUrl, ...ofRedis });
      queue = withPlaces(kept, places, concurrencyOf);
      const jobs = createJobs({
        services,
        set,
        records,
        queue,
        refunds,
        onFailed: noteFailed,
        onEnded,
        clock,
        log,
        baseUrl,
      });
      return {
        ...jobs,
        start() {
          jobs.start();
          refunds.start();
        },
        takeOver: refunds.sweep,
        async drain() {
          await Promise.all([jobs.drain(), refunds.drain()]);
        },
        async close() {
          await jobs.close();
          await refunds.close();
        },
      };
    },
  };
}

function createSoldSearch(openBooks: () => Promise<Books>): NonNullable<RefundsDeps["findSold"]> {
  return async (id) => {
    const books = await openBooks();
    await books.refresh();
    const sale = books.find(id).find(({ kind, job }) => kind === "sale" && job === id);
    if (!sale) return undefined;
    const { service, at, network, asset, amount, payer, transaction } = sale;
    return { id, service, at, payment: { network, asset, amount, payer, transaction } };
  };
}
