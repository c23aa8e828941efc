import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { toPayments } from "../../attacks/support/whole-shop.ts";
import { type Contestant, startServer } from "../contestant.ts";
import { GOOD, type Order, post, TITLES } from "./attacks.ts";

/** How good buyers fare beside an attack. Latencies are milliseconds. */
export interface HostileRow {
  readonly title: string;
  readonly alone: Latencies;
  readonly beside: Latencies;
  /** How many of the attacker's requests were answered 429, or of its connections closed. */
  readonly refused: number;
}

interface Latencies {
  readonly p50: number;
  readonly p99: number;
}

const SECONDS = 20;
const GOOD_EVERY_MS = 20;

export async function measureHostile(): Promise<HostileRow[]> {
  const rows: HostileRow[] = [];
  for (const title of TITLES) {
    const server = await startServer("whole");
    try {
      await measureGood(server, 3); // Warms up.
      const alone = await measureGood(server, SECONDS);
      const stop = begin({ title, url: server.url });
      const beside = await measureGood(server, SECONDS);
      rows.push({ title, alone, beside, refused: await stop() });
    } finally {
      await server.stop();
    }
  }
  return rows;
}

/** Begins an attack; gives how to end it, which tells how much of it was refused. */
function begin(order: Order): () => Promise<number> {
  const worker = new Worker(new URL("./attacks.ts", import.meta.url), { workerData: order });
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  worker.once("message", resolve).once("error", reject);
  return () => {
    worker.postMessage("over");
    return promise;
  };
}

async function measureGood({ url }: Contestant, seconds: number): Promise<Latencies> {
  const pay = await toPayments(url + GOOD.path, "00".repeat(65));
  const latencies: number[] = [];
  const running: Promise<void>[] = [];
  const until = performance.now() + seconds * 1000;
  for (let due = performance.now(); due < until; due += GOOD_EVERY_MS) {
    await sleep(Math.max(0, due - performance.now()));
    const began = performance.now();
    running.push(
      post(url + GOOD.path, JSON.stringify(GOOD.body), GOOD.client, pay()).then((status) => {
        if (status !== 200) throw new Error(`a good buyer was answered ${status}`);
        latencies.push(performance.now() - began);
      }),
    );
  }
  await Promise.all(running);
  latencies.sort((one, other) => one - other);
  const at = (share: number): number => latencies[Math.floor(latencies.length * share)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}
