import type { Clock, Log } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import type { JobEnd, JobRecord } from "../jobs/records.ts";
import { isJobService, type Service } from "../service.ts";
import { payerOf } from "./purchase.ts";

/**
 * Pauses the sale of work that is paid first and keeps failing, since each refund costs the seller a fee. A buyer rests
 * after many failures of one service in a row; the service rests for everybody after failures for as many buyers.
 * Resting means: refused before the charge. Meanwhile work that was already sold is retried. After the rest, one buyer
 * at a time is let in. The first delivery ends the service's rest; a buyer's own rest ends with a delivery to that
 * buyer. Kept in the memory of this process.
 */
export interface Trials {
  /** Lets a buyer in. @throws Problem `unavailable` while the service rests, or while another buyer tries it. */
  enter(service: Service, buyer: string | undefined): void;
  /** Work was delivered: ends the service's rest and forgets this buyer's failures. @param service its id */
  delivered(service: string, buyer: string | undefined): void;
  /** The first run of a payment's work failed. @param service its id */
  failed(service: string, buyer: string | undefined): void;
  /** A job ended. Failures of free jobs do not count, nor do those of jobs that the service does not take any more. */
  ended(job: Pick<JobRecord, "service" | "begun">, end: JobEnd): void;
  /** The reason, a sentence, why a service rests for all buyers; undefined while it is sold. @param service its id */
  reasonAgainst(service: string): string | undefined;
}

export interface TrialsDeps {
  readonly services: readonly Service[];
  readonly clock: Clock;
  readonly log: Log;
}

/** A number of failures in a row. */
interface Failures {
  readonly count: number;
  /** Unix milliseconds. */
  readonly restsUntil: number;
}

/** The failures of one service. */
interface Trial {
  all: Failures | undefined;
  /** The buyers for whom it failed since the last delivery: `all` counts each of them once. */
  readonly since: Set<string>;
  /** The failures of each buyer, the latest last. */
  readonly buyers: Map<string, Failures>;
}

/** Failures in a row before a rest. More for jobs, which are retried and may fail because of their input. */
const MOST = 5;
const MOST_JOBS = 20;
/** The first rest; doubled with each further failure. */
const REST_MS = 30_000;
const LONGEST_REST_MS = 10 * 60_000;
/** How long the next buyer waits while one buyer tries the service. */
const TRIAL_MS = 30_000;
/** How many buyers of one service are remembered. */
const MOST_BUYERS = 1000;

export function createTrials({ services, clock, log }: TrialsDeps): Trials {
  const jobs = new Set(services.filter(isJobService).map(({ manifest }) => manifest.id));
  const known = new Map<string, Trial>();
  const mostOf = (service: string): number => (jobs.has(service) ? MOST_JOBS : MOST);
  const isResting = (service: string, failures: Failures | undefined): failures is Failures =>
    failures !== undefined && failures.count >= mostOf(service);

  /**
   * The failures, with the rest extended by `TRIAL_MS` for the next buyer. A clock that was set back ends a rest.
   * @throws Problem `unavailable` during a rest.
   */
  function take(failures: Failures, whose: string): Failures {
    const leftMs = failures.restsUntil - clock.now();
    if (leftMs <= 0 || leftMs > LONGEST_REST_MS) return { ...failures, restsUntil: clock.now() + TRIAL_MS };
    const retryAfter = Math.ceil(leftMs / 1000);
    throw new Problem("unavailable", `${explain(failures, whose)}; nothing was charged`, { retryAfter });
  }

  function add(service: string, failures: Failures | undefined): Failures {
    const count = (failures?.count ?? 0) + 1;
    const restMs = Math.min(REST_MS * 2 ** Math.max(0, count - mostOf(service)), LONGEST_REST_MS);
    return { count, restsUntil: clock.now() + restMs };
  }

  const trials: Trials = {
    enter({ manifest: { id } }, buyer = "") {
      const trial = known.get(id);
      const own = trial?.buyers.get(buyer);
      const next = isResting(id, own) && take(own, "payments of this buyer");
      if (trial && isResting(id, trial.all)) trial.all = take(trial.all, "buyers");
      if (next) trial?.buyers.set(buyer, next); // Unless the service rests: then this buyer has tried nothing.
    },
    delivered(service, buyer = "") {
      const trial = known.get(service);
      if (!trial) return;
      if (isResting(service, trial.all)) log.warn("service.sold-again", { service });
      trial.all = undefined;
      trial.since.clear();
      trial.buyers.delete(buyer);
    },
    failed(service, buyer = "") {
      const trial = known.get(service) ?? { all: undefined, since: new Set(), buyers: new Map() };
      known.set(service, trial);
      const own = add(service, trial.buyers.get(buyer));
      trial.buyers.delete(buyer);
      trial.buyers.set(buyer, own);
      if (trial.buyers.size > MOST_BUYERS) trial.buyers.delete(trial.buyers.keys().next().value);
      if (trial.since.has(buyer) && !isResting(service, trial.all)) return; // This buyer's input may be the cause.
      trial.since.add(buyer);
      trial.all = add(service, trial.all);
      const { count } = trial.all;
      if (count === mostOf(service)) log.error("service.rests", { service, failures: count });
    },
    ended({ service, begun }, end) {
      const paid = begun?.payment;
      const buyer = paid?.payer ? payerOf(paid.payer, paid) : undefined;
      if (end.state !== "FAILED") trials.delivered(service, buyer);
      else if (paid && !end.isWithdrawn) trials.failed(service, buyer);
    },
    reasonAgainst(service) {
      const all = known.get(service)?.all;
      return isResting(service, all) ? explain(all, "buyers") : undefined;
    },
  };
  return trials;
}

const explain = ({ count }: Failures, whose: string): string =>
  `The work of the last ${count} ${whose} has failed, and the service rests until what was paid for is delivered`;
