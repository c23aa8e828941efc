/** The signals to a server that starts. */
export interface EarlySignals {
  /** Leaves the signals to others from now on. @returns whether there was a SIGHUP */
  end(): boolean;
}

/**
 * Ends the process on SIGINT and SIGTERM, since nothing is sold yet: the first process of a container gets only the signals
 * that it listens to. A SIGHUP, which would end the process, waits for the server.
 */
export function heedEarlySignals(): EarlySignals {
  let isHungUp = false;
  const hangUp = (): void => {
    isHungUp = true;
  };
  const stop = (): never => process.exit(0);
  process.on("SIGHUP", hangUp).on("SIGINT", stop).on("SIGTERM", stop);
  return {
    end() {
      process.off("SIGHUP", hangUp).off("SIGINT", stop).off("SIGTERM", stop);
      return isHungUp;
    },
  };
}
