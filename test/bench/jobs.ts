import { setTimeout as sleep } from "node:timers/promises";
import { createFolder } from "../support/folder.ts";
import { startRedis } from "../support/store/redis.ts";
import { type Contestant, startServer } from "./contestant.ts";
import { JOB_PATH, openJobShop } from "./job-shop.ts";
import { type Sample, sample } from "./load.ts";
import { median } from "./median.ts";
import { EXAMPLE } from "./shop.ts";

/** How fast jobs are worked on: 1000 of one step each that takes 10 ms, 10 at once in each process. */
export interface DrainRow {
  readonly title: string;
  /** Jobs a second. */
  readonly one: number;
  readonly two: number;
  /** How many times as fast two processes are. */
  readonly ratio: number;
}

/** How often a status route can be asked. */
export interface PollRow extends Omit<Sample, "calls"> {
  readonly title: string;
  readonly ofBare: number;
}

const JOBS = 1000;
const STEP_MS = 10;
const ROUNDS = 3;
const POLLS = 4000;

/** Drains the same line with one process and with two, in turn, on both engines. */
export const measureDrain = (): Promise<DrainRow[]> =>
  onBothEngines(async (engine, openPlace) => {
    const [one, two]: [number[], number[]] = [[], []];
    for (let round = 0; round < ROUNDS; round += 1) {
      one.push(await drain(await openPlace(), 1));
      two.push(await drain(await openPlace(), 2));
    }
    const rates = [median(one), median(two)] as const;
    const ratio = median(two.map((rate, at) => rate / (one[at] ?? rate)));
    return { title: `${JOBS} jobs of ${STEP_MS} ms drained, ${engine}`, one: rates[0], two: rates[1], ratio };
  });

/** Asks for a job that is being worked on, beside a bare server in turn. */
export const measurePolls = (): Promise<PollRow[]> =>
  onBothEngines(async (engine, openPlace) => {
    const [server, bare] = await Promise.all([startServer("jobs", await openPlace(), "-1"), startServer("bare")]);
    const body = JSON.stringify(EXAMPLE);
    const headers = { "content-type": "application/json" };
    const accepted = await fetch(server.url + JOB_PATH, { method: "POST", headers, body });
    const { job_id } = (await accepted.json()) as { job_id: string };
    const make = (count: number) =>
      Array.from({ length: count }, () => ({ method: "GET" as const, path: `${JOB_PATH}/${job_id}` }));
    const rounds: { polls: Sample; bare: Sample }[] = [];
    for (let round = -1; round < ROUNDS; round += 1) {
      const polls = await sample(server.url, make, POLLS, 200);
      const beside = await sample(bare.url, make, POLLS, 200);
      if (round >= 0) rounds.push({ polls, bare: beside });
    }
    await Promise.all([server.stop(), bare.stop()]);
    return {
      title: `status of a job, ${engine}`,
      rate: median(rounds.map(({ polls }) => polls.rate)),
      p50: median(rounds.map(({ polls }) => polls.p50)),
      p99: median(rounds.map(({ polls }) => polls.p99)),
      ofBare: median(rounds.map(({ polls, bare: other }) => polls.rate / other.rate)),
    };
  });

/** Jobs a second, from the first that is put in line to the last that has ended. */
async function drain(place: string, processes: number): Promise<number> {
  const workers: Contestant[] = [];
  for (let count = 0; count < processes; count += 1) workers.push(await startServer("jobs", place, String(STEP_MS)));
  const { jobs, queue, service, close } = await openJobShop(place, 0, "http://127.0.0.1");
  const beganAt = performance.now();
  const add = (): Promise<void> => jobs.reserve(service, EXAMPLE, ({ job_id }) => jobs.begin(job_id, null));
  await Promise.all(Array.from({ length: JOBS }, add));
  while ((await queue.count(service.manifest.id)) > 0) await sleep(10);
  const seconds = (performance.now() - beganAt) / 1000;
  await Promise.all([...workers.map((worker) => worker.stop()), close()]);
  return JOBS / seconds;
}

async function onBothEngines<T>(
  measure: (engine: string, openPlace: () => Promise<string>) => Promise<T>,
): Promise<T[]> {
  const redis = await startRedis();
  try {
    return [await measure("SQLite", async () => createFolder()), await measure("Redis", async () => redis.url)];
  } finally {
    await redis.stop();
  }
}

if (process.argv[1] === import.meta.filename) {
  console.table(await measureDrain());
  console.table(await measurePolls());
}
