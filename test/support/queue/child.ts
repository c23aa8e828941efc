import { setTimeout as sleep } from "node:timers/promises";
import { openTestQueue, type QueuePlace, SERVICES } from "./place.ts";

/**
 * A worker process. It works on a queue and prints `began`, `ended` or `stopped` with the job's id for each turn.
 * `hang`: no turn ends by itself. A number: each turn takes that many milliseconds.
 * SIGUSR2 stops the process as SIGSTOP does, but never within a transaction, whose lock would stop all others, too.
 */
const [place = "", pace = "0"] = process.argv.slice(2);
const open = (): ReturnType<typeof openTestQueue> => openTestQueue(JSON.parse(place) as QueuePlace);
const { queue } = await open().catch(open); // A busy machine's Redis may answer too late once.
queue.start(async ({ id }, signal) => {
  process.stdout.write(`began ${id}\n`);
  if (pace !== "hang") await sleep(Number(pace));
  else await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
  process.stdout.write(`${signal.aborted ? "stopped" : "ended"} ${id}\n`);
  return signal.aborted ? { retryInMs: 0 } : "done";
}, Object.keys(SERVICES));
process.stdout.write("ready\n");
process.on("SIGUSR2", () => process.kill(process.pid, "SIGSTOP"));
setInterval(() => {}, 60_000);
