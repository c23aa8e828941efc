import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { toPayments } from "../../attacks/support/whole-shop.ts";
import { startServer } from "../contestant.ts";
import { GOOD, type Order, post, TITLES } from "./attacks.ts";

/** How good buyers fare beside an attack. Latencies are milliseconds. */
export interface HostileRow extends Fared {
  readonly title: string;
  /** Beside the same attack on a server that does nothing: attacker, buyers and server share two cores. */
  readonly bare: Fared;
}

interface Fared {
  readonly alone: Latencies;
  readonly beside: Latencies;
  /** How many of the attacker's requests were answered 429, or of its connections closed. */
  readonly refused: number;
}

interface Latencies {
  readonly p50: number;
  readonly p99: number;
}

/** Rounds in which both servers take turns. */
const ROUNDS = 3;
const SECONDS = 5;
const GOOD_EVERY_MS = 20;

export async function measureHostile(): Promise<HostileRow[]> {
  const rows: HostileRow[] = [];
  for (const title of TITLES) {
    const shop = await startServer("whole");
    const bare = await startServer("bare");
    try {
      const orders = [shop, bare].map(({ url }) => ({ title, url, shop: shop.url }));
      const pay = await toPayments(shop.url + GOOD.path, "00".repeat(65));
      for (const { url } of orders) await measureGood(url, pay, 3); // Warms up.
      const rounds: Round[][] = orders.map(() => []);
      for (let round = 0; round < ROUNDS; round += 1)
        for (const [at, order] of orders.entries()) rounds[at]?.push(await measureRound(order, pay));
      const [own, other] = rounds.map(toFared) as [Fared, Fared];
      rows.push({ title, ...own, bare: other });
    } finally {
      await Promise.all([shop.stop(), bare.stop()]);
    }
  }
  return rows;
}

interface Round {
  readonly alone: readonly number[];
  readonly beside: readonly number[];
  readonly refused: number;
}

async function measureRound(order: Order, pay: () => string): Promise<Round> {
  const alone = await measureGood(order.url, pay, SECONDS);
  const stop = begin(order);
  const beside = await measureGood(order.url, pay, SECONDS);
  return { alone, beside, refused: await stop() };
}

const toFared = (rounds: readonly Round[]): Fared => ({
  alone: toLatencies(rounds.flatMap(({ alone }) => alone)),
  beside: toLatencies(rounds.flatMap(({ beside }) => beside)),
  refused: rounds.reduce((sum, { refused }) => sum + refused, 0),
});

function toLatencies(all: readonly number[]): Latencies {
  const sorted = all.toSorted((one, other) => one - other);
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
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

/** @returns the latency of each call, in milliseconds */
async function measureGood(url: string, pay: () => string, seconds: number): Promise<number[]> {
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
  return latencies;
}
