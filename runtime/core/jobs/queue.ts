/** A queued job. */
export interface QueuedJob {
  readonly id: string;
  /** The service's id. */
  readonly service: string;
  /** Unix milliseconds of the payment; jobs are taken in this order. */
  readonly at: number;
}

/** The result of one turn: the job is over, or it gets another turn after `retryInMs` milliseconds. */
export type TurnResult = "done" | { readonly retryInMs: number };

/** Works on a job once. @param signal aborted when this process closes; an unfinished job goes back to the queue. */
export type Turn = (job: QueuedJob, signal: AbortSignal) => Promise<TurnResult>;

/**
 * The queue of jobs, kept outside of the process. One worker holds a job at a time, as far as that can be known: a worker
 * that was stalled may still be running a job that another one has taken over, so a turn must be safe to run twice. When
 * a worker dies, another one takes its jobs within seconds.
 */
export interface JobQueue {
  /** Queues a job durably. Adding a queued job again changes nothing. @throws Problem `unavailable`. */
  add(job: QueuedJob): Promise<void>;
  /** How many jobs of a service are queued or running, in all processes. @throws Problem `unavailable`. */
  count(service: string): Promise<number>;
  /** Queued or running jobs of a service, the oldest first, at most so many. @throws Problem `unavailable`. */
  list(service: string, most: number): Promise<readonly QueuedJob[]>;
  /** The services that have queued or running jobs, in all processes. @throws Problem `unavailable`. */
  services(): Promise<readonly string[]>;
  /** Starts taking the jobs of these services, and no others. A turn that throws is repeated later. To be called once. */
  start(turn: Turn, services: Iterable<string>): void;
  /** Takes the jobs of another service, too. */
  adopt(service: string): void;
  /** Takes no more jobs of an adopted service; fulfils when none can be taken any more. */
  abandon(service: string): Promise<void>;
  /** Takes no more jobs, and waits for the end of the running turns. Jobs can still be added. */
  drain(): Promise<void>;
  /** Takes no more jobs, aborts the running turns, and waits for their end. */
  close(): Promise<void>;
}
