import { Worker } from "node:worker_threads";
import type { ReadTask } from "./document.ts";

const LOOK_MS = 20;
const MEMORY_STATUS = 2;

/**
 * Receives one document, parses it in a thread, watches the memory meanwhile, and sends the text back. An error in the
 * thread ends the process with status 1.
 */
process.once("message", ({ source, limitBytes }: ReadTask) => {
  const parser = new Worker(new URL("./document-thread.ts", import.meta.url), { workerData: source });
  parser.once("message", (text) => process.send?.(text));
  setInterval(() => {
    if (process.memoryUsage.rss() > limitBytes) process.exit(MEMORY_STATUS);
  }, LOOK_MS);
});
process.once("disconnect", () => process.exit());
