import { Worker } from "node:worker_threads";
import { type ReadTask, STATUS } from "./document-task.ts";

const LOOK_MS = 20;

/**
 * Receives one document, parses it in a thread, watches memory and processor time meanwhile, and sends the text back. An
 * error in the thread ends the process with status 1.
 */
process.once("message", ({ source, limitBytes, limitCpuMs }: ReadTask) => {
  const began = process.cpuUsage();
  const parser = new Worker(new URL("./document-thread.ts", import.meta.url), { workerData: source });
  parser.once("message", (read) => process.send?.(read));
  setInterval(() => {
    if (process.memoryUsage.rss() > limitBytes) process.exit(STATUS.memory);
    const { user, system } = process.cpuUsage(began);
    if ((user + system) / 1000 > limitCpuMs) process.exit(STATUS.time);
  }, LOOK_MS);
});
process.once("disconnect", () => process.exit());
