import { untilAborted } from "../http/retry.ts";

/**
 * Does what many ask for at the same time once. The signal ends one caller's wait; the work's own signal is aborted when
 * all callers have left, and whoever asks afterwards begins anew. A failure is everybody's.
 */
export type SingleFlight<T> = (
  key: string,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
) => Promise<T>;

interface Flight<T> {
  readonly outcome: Promise<T>;
  readonly controller: AbortController;
  waiters: number;
}

/** Nothing is kept: work that has ended is done again for the next who asks. */
export function createSingleFlight<T>(): SingleFlight<T> {
  const flights = new Map<string, Flight<T>>();

  return async (key, signal, work) => {
    signal.throwIfAborted();
    const flight = flights.get(key) ?? start(key, work);
    flight.waiters += 1;
    try {
      return await untilAborted(flight.outcome, signal);
    } finally {
      flight.waiters -= 1;
      if (flight.waiters === 0 && flights.get(key) === flight) {
        flights.delete(key);
        flight.controller.abort();
      }
    }
  };

  function start(key: string, work: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const controller = new AbortController();
    const outcome = work(controller.signal).finally(() => {
      if (flights.get(key) === flight) flights.delete(key);
    });
    const flight: Flight<T> = { outcome, controller, waiters: 0 };
    flights.set(key, flight);
    return flight;
  }
}
