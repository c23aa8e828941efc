import cluster from "node:cluster";
import { type ReadyMessage, STOP } from "./messages.ts";

/** How a worker tells that it sells, and ends. */
export interface WorkerLifecycle {
  /** To be called once it sells. */
  announce(ready: ReadyMessage): void;
  /** To be called when it cannot sell: nothing keeps it from ending then. */
  giveUp(): void;
  /** Has it closed in order when it shall end. */
  onStop(close: () => Promise<void>): void;
}

/**
 * The life of one of several workers: it tells the process that has started it, and ends when that one says so or is gone.
 * Undefined in a process of its own.
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
    worker.exitedAfterDisconnect = true; // Otherwise Node ends it here, with its calls.
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
