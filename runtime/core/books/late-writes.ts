/** Writes what was gathered in memory, some seconds later and one write at a time. */
export interface LateWrites {
  /** Writes within `EVERY_MS`. */
  later(): void;
  /** Writes at once. Never rejects: what could not be written waits for the next write. */
  flush(): Promise<void>;
}

/** The interval of the writes. */
const EVERY_MS = 5000;

/**
 * @param write rejects when it could not write everything; it keeps the rest for its next call
 * @param onOutage called once per outage
 */
export function createLateWrites(write: () => Promise<void>, onOutage: (error: unknown) => void): LateWrites {
  let timer: NodeJS.Timeout | undefined;
  let isOutage = false;
  let writing: Promise<void> = Promise.resolve();

  const later = (): void => {
    timer ??= setTimeout(() => void flush(), EVERY_MS).unref();
  };

  async function tryToWrite(): Promise<void> {
    try {
      await write();
      isOutage = false;
    } catch (error) {
      if (!isOutage) onOutage(error);
      isOutage = true;
      later();
    }
  }

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing = writing.then(tryToWrite);
    return writing;
  }

  return { later, flush };
}
