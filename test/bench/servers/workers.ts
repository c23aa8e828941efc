import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import { join } from "node:path";

/** payphone in several processes on one port, as `serve --workers` does it. `node workers.ts <count>`, and what `payphone.ts` takes. */
const [count = "1", ...args] = process.argv.slice(2);
cluster.setupPrimary({ exec: join(import.meta.dirname, "payphone.ts"), args, silent: true });

const ports: number[] = [];
for (let at = 0; at < Number(count); at += 1) {
  const worker = cluster.fork();
  worker.process.stderr?.pipe(process.stderr);
  const [line] = (await once(worker.process.stdout ?? process.stdin, "data")) as [Buffer];
  ports.push(Number(line.toString()));
}
process.stdout.write(`${ports[0]}\n`);
process.once("SIGTERM", () => {
  for (const worker of Object.values(cluster.workers ?? {})) (worker as Worker).process.kill("SIGKILL");
  process.exit(0);
});
