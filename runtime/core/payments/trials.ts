import type { Clock, Log } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { isJobService, type Service } from "../service.ts";

/**
 * Whether work that is paid first is still sold. Each payment whose work fails costs the seller the fee of a refund. So a
 * buyer for whom a service has failed many times in a row rests, and a service that has failed for as many buyers rests for
 * all: they are refused before they are charged. What was sold before is tried again all the while, and after the rest one
 * buyer at a time: the first work that is delivered ends it. Kept in this process.
 */
export interface Trials {
  /** Lets a buyer in. @throws Problem `unavailable` while the service rests, or while another buyer tries it. */
  enter(service: Service, buyer: string | undefined): void;
  /** Work was delivered. @param service its id */
  delivered(service: string): void;
  /** The first run of a payment's work has failed, or its job for good. @param service its id */
  failed(service: string, buyer: string | undefined): void;
  /** Why a service rests for all: a sentence; undefined while it is sold. @param service its id */
  reasonAgainst(service: string): string | undefined;
}

export interface TrialsDeps {
  readonly services: readonly Service[];
  readonly clock: Clock;
  readonly log: Log;
}

/** Failures in a row. */
interface Failures {
  readonly count: number;
  /** Unix milliseconds. */
  readonly restsUntil: number;
}

/** Failures in a row before a rest; jobs are tried several times, and may fail by their input. */
const MOST = 5;
const MOST_JOBS = 20;
/** The first rest; doubled with each failure after it. */
const REST_MS = 30_000;
const LONGEST_REST_MS = 10 * 60_000;
/** So long the next buyer waits for the one that tries the service. */
const TRIAL_MS = 30_000;
/** How many buyers of one service are remembered. */
const MOST_BUYERS = 1000;

export function createTrials({ services, clock, log }: TrialsDeps): Trials {
  const jobs = new Set(services.filter(isJobService).map(({ manifest }) => manifest.id));
  /** By service: its own failures, one for each buyer, and those of its buyers. */
  const known = new Map<string, { all: Failures | undefined; readonly buyers: Map<string, Failures> }>();
  const mostOf = (service: string): number => (jobs.has(service) ? MOST_JOBS : MOST);
  const isResting = (service: string, failures: Failures | undefined): failures is Failures =>
    failures !== undefined && failures.count >= mostOf(service);

  /** The failures with the time in which the next one is kept waiting. @throws Problem `unavailable` during a rest. */
  function take(failures: Failures, whose: string): Failures {
    const leftMs = failures.restsUntil - clock.now();
    if (leftMs <= 0) return { ...failures, restsUntil: clock.now() + TRIAL_MS };
    const retryAfter = Math.ceil(leftMs / 1000);
    throw new Problem("unavailable", `${explain(failures, whose)}; nothing was charged`, { retryAfter });
  }

  function add(service: string, failures: Failures | undefined): Failures {
    const count = (failures?.count ?? 0) + 1;
    const restMs = Math.min(REST_MS * 2 ** Math.max(0, count - mostOf(service)), LONGEST_REST_MS);
    return { count, restsUntil: clock.now() + restMs };
  }

  return {
    enter({ manifest: { id } }, buyer = "") {
      const trial = known.get(id);
      const own = trial?.buyers.get(buyer);
      if (isResting(id, own)) trial?.buyers.set(buyer, take(own, "payments of this buyer"));
      if (trial && isResting(id, trial.all)) trial.all = take(trial.all, "buyers");
    },
    delivered(service) {
      if (isResting(service, known.get(service)?.all)) log.warn("service.sold-again", { service });
      known.delete(service);
    },
    failed(service, buyer = "") {
      const trial = known.get(service) ?? { all: undefined, buyers: new Map() };
      known.set(service, trial);
      const own = trial.buyers.get(buyer);
      if (trial.buyers.size < MOST_BUYERS || own) trial.buyers.set(buyer, add(service, own));
      if (own && !isResting(service, trial.all)) return; // One buyer's failures may come from what they ask for.
      trial.all = add(service, trial.all);
      const { count } = trial.all;
      if (count === mostOf(service)) log.error("service.rests", { service, failures: count });
    },
    reasonAgainst(service) {
      const all = known.get(service)?.all;
      return isResting(service, all) ? explain(all, "buyers") : undefined;
    },
  };
}

const explain = ({ count }: Failures, whose: string): string =>
  `The work of the last ${count} ${whose} has failed, and the service rests until what was paid for is delivered`;
