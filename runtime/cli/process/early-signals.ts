/** The signals to a server that starts. */
export interface EarlySignals {
  /** Leaves the signals to others from now on. @returns whether there was a SIGHUP */
  end(): boolean;
}

interface EarlyTerms {
  /** Whether a SIGHUP, which would end the process, waits for the server. Otherwise it ends the process, too. */
  readonly keepsHangUp: boolean;
}

/**
 * Ends the process on SIGINT and SIGTERM, since nothing is sold yet: the first process of a container gets only the signals
 * that it listens to.
 */
export function heedEarlySignals({ keepsHangUp }: EarlyTerms): EarlySignals {
  let isHungUp = false;
  const stop = (): never => process.exit(0);
  const note = (): void => {
    isHungUp = true;
  };
  const hangUp = keepsHangUp ? note : stop;
  process.on("SIGHUP", hangUp).on("SIGINT", stop).on("SIGTERM", stop);
  return {
    end() {
      process.off("SIGHUP", hangUp).off("SIGINT", stop).off("SIGTERM", stop);
      return isHungUp;
    },
  };
}
