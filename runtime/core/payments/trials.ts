import type { Clock, Log } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { isJobService, type Service } from "../service.ts";

/**
 * Whether work that is paid first is still sold. Each payment whose work fails costs the seller the fee of a refund, so that
 * a service whose work has failed for many payments in a row rests: new buyers are refused before they are charged. What was
 * sold before is tried again all the while, and after the rest one buyer at a time: the first work that is delivered ends it.
 * Kept in this process.
 */
export interface Trials {
  /** Lets a buyer in. @throws Problem `unavailable` while the service rests, or while another buyer tries it. */
  enter(service: Service): void;
  /** Work was delivered. @param service its id */
  delivered(service: string): void;
  /** The first run of a payment's work has failed, or its job for good. @param service its id */
  failed(service: string): void;
  /** Why a service rests: a sentence; undefined while it is sold. @param service its id */
  reasonAgainst(service: string): string | undefined;
}

export interface TrialsDeps {
  readonly services: readonly Service[];
  readonly clock: Clock;
  readonly log: Log;
}

/** The failures in a row of one service. */
interface Failures {
  readonly count: number;
  /** Unix milliseconds. */
  readonly restsUntil: number;
}

/** Payments in a row whose work fails before a service rests; jobs are tried several times, and may fail by their input. */
const MOST = 5;
const MOST_JOBS = 20;
/** The first rest; doubled with each buyer whose work fails again. */
const REST_MS = 30_000;
const LONGEST_REST_MS = 10 * 60_000;
/** So long the next buyer waits for the one that tries the service. */
const TRIAL_MS = 30_000;

export function createTrials({ services, clock, log }: TrialsDeps): Trials {
  const jobs = new Set(services.filter(isJobService).map(({ manifest }) => manifest.id));
  const mostOf = (service: string): number => (jobs.has(service) ? MOST_JOBS : MOST);
  const failures = new Map<string, Failures>();
  const resting = (service: string): Failures | undefined => {
    const known = failures.get(service);
    return known && known.count >= mostOf(service) ? known : undefined;
  };

  return {
    enter({ manifest: { id } }) {
      const known = resting(id);
      if (!known) return;
      const leftMs = known.restsUntil - clock.now();
      if (leftMs > 0) {
        const retryAfter = Math.ceil(leftMs / 1000);
        throw new Problem("unavailable", `${explain(known)}; nothing was charged`, { retryAfter });
      }
      failures.set(id, { ...known, restsUntil: clock.now() + TRIAL_MS });
    },
    delivered(service) {
      if (resting(service)) log.warn("service.sold-again", { service });
      failures.delete(service);
    },
    failed(service) {
      const count = (failures.get(service)?.count ?? 0) + 1;
      const restMs = Math.min(REST_MS * 2 ** Math.max(0, count - mostOf(service)), LONGEST_REST_MS);
      failures.set(service, { count, restsUntil: clock.now() + restMs });
      if (count === mostOf(service)) log.error("service.rests", { service, failures: count });
    },
    reasonAgainst(service) {
      const known = resting(service);
      return known && explain(known);
    },
  };
}

const explain = ({ count }: Failures): string =>
  `The work of the last ${count} payments has failed, and the service rests until what was paid for is delivered`;
