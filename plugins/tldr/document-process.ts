import { Worker } from "node:worker_threads";
import type { Task } from "./document.ts";

const LOOK_MS = 20;
const MEMORY_STATUS = 2;

/**
 * The whole life of this process: a document comes in, a thread parses it while this one watches the memory, its text goes
 * out. What the thread fails with ends the process with status 1, as Node does.
 */
process.once("message", ({ source, limitBytes }: Task) => {
  const parser = new Worker(new URL("./document-thread.ts", import.meta.url), { workerData: source });
  parser.once("message", (text) => process.send?.(text));
  setInterval(() => {
    if (process.memoryUsage.rss() > limitBytes) process.exit(MEMORY_STATUS);
  }, LOOK_MS);
});
process.once("disconnect", () => process.exit());
