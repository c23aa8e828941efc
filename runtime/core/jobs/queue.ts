/** A job that waits for its turn, or has it. */
export interface QueuedJob {
  readonly id: string;
  /** The service's id. */
  readonly service: string;
  /** Milliseconds since the Unix epoch when the job was paid for: its place in the line. */
  readonly at: number;
}

/** What becomes of a job after its turn: it is over, or it wants another one so much later. */
export type Verdict = "done" | { readonly againMs: number };

/** One turn of a job. @param signal aborted when this process closes: what is not finished is handed back. */
export type Turn = (job: QueuedJob, signal: AbortSignal) => Promise<Verdict>;

/**
 * The line of jobs, kept outside of the process. A job is worked on by one worker at a time, as far as anybody can know: a
 * worker that was stalled may meet another one at the same job, so turns must bear being taken twice. When a worker dies,
 * the job gets its turn from another one soon.
 */
export interface JobQueue {
  /** Puts a job in line, durably; one that is in line already stays where it is. @throws Problem `unavailable`. */
  add(job: QueuedJob): Promise<void>;
  /** How many jobs of a service are in line or have their turn, in all processes. @throws Problem `unavailable`. */
  count(service: string): Promise<number>;
  /** Begins to give turns. A turn that throws is taken again later. To be called once. */
  start(turn: Turn): void;
  /** Gives no more turns, tells those that are taken to end, and waits until they have. */
  close(): Promise<void>;
}
