export interface QueuedJob {
  readonly id: string;
  /** The service's id. */
  readonly service: string;
  /** When the job was paid for: Unix milliseconds; jobs are taken in this order. */
  readonly at: number;
}

/** The result of one turn: the job is over, or it gets another turn after `retryInMs` milliseconds. */
export type TurnResult = "done" | { readonly retryInMs: number };

/** Runs one turn of a job. @param signal aborted when this process closes; an unfinished job returns to the queue. */
export type Turn = (job: QueuedJob, signal: AbortSignal) => Promise<TurnResult>;

/**
 * The queue of jobs, kept outside of the process. Normally one worker holds a job at a time; but a stalled worker may
 * still run a job that another one has taken over, so a turn must be safe to run twice. When a worker dies, another one
 * takes its jobs within seconds.
 */
export interface JobQueue {
  /** Queues a job durably. Adding a queued job again changes nothing. @throws Problem `unavailable`. */
  add(job: QueuedJob): Promise<void>;
  /** How many jobs of a service are queued or running, in all processes. @throws Problem `unavailable`. */
  count(service: string): Promise<number>;
  /** The oldest queued or running jobs of a service, at most `most`. @throws Problem `unavailable`. */
  list(service: string, most: number): Promise<readonly QueuedJob[]>;
  /** The services that have queued or running jobs, in all processes. @throws Problem `unavailable`. */
  services(): Promise<readonly string[]>;
  /** Starts taking the jobs of these services only. A turn that throws is repeated later. Call it once. */
  start(turn: Turn, services: Iterable<string>): void;
  /** Takes the jobs of another service, too. */
  adopt(service: string): void;
  /** Stops taking the jobs of an adopted service; resolves when none can be taken any more. */
  abandon(service: string): Promise<void>;
  /** Takes no more jobs, and waits for the end of the running turns. Jobs can still be added. */
  drain(): Promise<void>;
  /** Takes no more jobs, aborts the running turns, and waits for their end. */
  close(): Promise<void>;
}
