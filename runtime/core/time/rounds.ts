/** Work that is done again and again. */
export interface Rounds {
  /** Begins the first round, after `waitMs` if given. */
  start(waitMs?: number): void;
  isClosed(): boolean;
  /** Begins no more rounds. Resolves when the current one has ended. */
  close(): Promise<void>;
}

/**
 * Repeats work. Rounds do not overlap: each begins some time after the one before has ended. Their timer does not keep
 * the process alive.
 * @param round resolves to the pause after it, in milliseconds; must not reject
 */
export function createRounds(round: () => Promise<number>): Rounds {
  let timer: NodeJS.Timeout | undefined;
  let current: Promise<void> = Promise.resolve();
  let isClosed = false;

  function wait(ms: number): void {
    if (!isClosed) timer = setTimeout(begin, ms).unref();
  }

  function begin(): void {
    current = round().then(wait);
  }

  return {
    start: (waitMs) => (waitMs === undefined ? begin() : wait(waitMs)),
    isClosed: () => isClosed,
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await current;
    },
  };
}
