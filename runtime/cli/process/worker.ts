import cluster from "node:cluster";
import { type ReadyMessage, STOP } from "./messages.ts";

/** How a worker reports its start, and how it stops. */
export interface WorkerLifecycle {
  /** To be called once the worker sells. */
  announce(ready: ReadyMessage): void;
  /** To be called when the worker cannot sell; afterwards nothing keeps its process running. */
  giveUp(): void;
  /** Sets the function that closes the worker when it must stop. */
  onStop(close: () => Promise<void>): void;
}

/**
 * The lifecycle of one of several workers. It reports to the process that started it, and stops when that process says
 * so or is gone. Undefined in a process that is not a worker.
 */
export function workerLifecycle(): WorkerLifecycle | undefined {
  const { worker } = cluster;
  if (!worker) return undefined;
  let close: (() => Promise<void>) | undefined;
  const stop = async (): Promise<void> => {
    await close?.();
    process.exit(0);
  };
  process.on("message", (message: unknown) => {
    if (message === STOP) void stop();
  });
  worker.once("disconnect", () => {
    worker.exitedAfterDisconnect = true; // Otherwise Node would end the process here, with calls in flight.
    void stop();
  });
  return {
    announce: (ready) => void worker.send(ready),
    giveUp: () => process.channel?.unref(),
    onStop(closing) {
      close = closing;
    },
  };
}
