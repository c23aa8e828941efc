import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import type { BookLine } from "../../../runtime/core/books/books.ts";
import type { AcceptedJob } from "../../../runtime/core/jobs/jobs.ts";
import type { JobStatus } from "../../../runtime/core/jobs/status.ts";
import { openBooks } from "../../../runtime/drivers/books/open-books.ts";
import { NAMESPACE, storeFileOf } from "../../../runtime/drivers/store/open-store.ts";
import type { TestSandbox } from "../../support/chains/chains.ts";
import { eventually } from "../../support/eventually.ts";
import { createFolder } from "../../support/folder.ts";
import { findFreePort } from "../../support/free-port.ts";
import { type Seller, startSeller } from "../../support/sellers/seller.ts";
import { json, signFor, stockClient } from "../../support/sellers/stock-buyer.ts";
import { startRedis } from "../../support/store/redis.ts";

export type Engine = "SQLite" | "Redis";

/** Where processes keep their state, one after the other: what dies is replaced by the next one. */
export interface Scene {
  /** The process that runs. */
  running(): Promise<Seller>;
  /** Ends it at a write. @param from: see crash-hook.ts. */
  crashAt(point: number, from: string): void;
  /** Kills it, unless it has ended, and starts the next one. */
  replace(): Promise<Seller>;
  /** The shop's book, once its process was ended in order. */
  readBook(): Promise<readonly BookLine[]>;
  stop(): Promise<void>;
}

export interface Errand {
  readonly what: string;
  readonly fail?: boolean;
  readonly pause_ms?: number;
}

/** `npm test` tries some crashes; `npm run test:crash` says how many are to be tried of each kind, on each engine. */
export const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 0);

/** How many crashes are tried at the same time: one needs a process more than there are rounds. */
export const LANES = ROUNDS > 0 ? 2 : 1;

/** One crash: before or after which write, and whether the work fails. */
export interface Round {
  readonly point: number;
  readonly fail: boolean;
}

/**
 * Every point in turn, first with work that succeeds, then with work that fails; in short, some of them with either, and
 * those of one engine between those of the other.
 * @param points how many there are: two for each write. @param stride how far apart those of the short form are.
 */
export function toRounds(engine: Engine, points: number, stride: number): Round[] {
  if (ROUNDS > 0)
    return Array.from({ length: ROUNDS }, (_, at) => ({ point: at % points, fail: Math.floor(at / points) % 2 === 1 }));
  const isFirst = engine === "SQLite";
  return Array.from({ length: Math.floor(points / stride) }, (_, at) => ({
    point: at * stride + (isFirst ? 0 : stride / 2),
    fail: (at % 2 === 1) === isFirst,
  }));
}

/** A paid request that can be sent again, to any process. */
export type Send = (seller: Pick<Seller, "url">) => Promise<Response>;

/** A job may be asked for 120 times a minute. */
const POLL_MS = 150;
const HOOK = pathToFileURL(join(import.meta.dirname, "crash-hook.ts")).href;

export async function openScene(
  engine: Engine,
  { sandbox, dir, log }: { sandbox: TestSandbox; dir: string; log: string },
): Promise<Scene> {
  const data = createFolder();
  const redis = engine === "Redis" ? await startRedis() : undefined;
  const port = await findFreePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const plan = join(data, "crash-plan");
  const crash = { NODE_OPTIONS: `--import ${HOOK}`, CRASH_PLAN: plan };
  const env = { ERRAND_LOG: log, LOG_LEVEL: "error", ...crash, ...(redis && { REDIS_URL: redis.url }) };
  const start = (): Promise<Seller> => {
    writeFileSync(plan, "");
    return startSeller({ sandbox, dir, dataDir: data, baseUrl, env });
  };
  let seller: Seller | undefined;
  return {
    async running() {
      seller ??= await start();
      return seller;
    },
    crashAt: (point, from) => writeFileSync(plan, `${point} ${from}`),
    async replace() {
      await seller?.kill();
      seller = await start();
      return seller;
    },
    async readBook() {
      await seller?.stop();
      const file = storeFileOf(data);
      const books = await openBooks(redis ? { redisUrl: redis.url, namespace: NAMESPACE, file } : { file });
      await books.refresh();
      const lines = books.since(0, 10_000);
      await books.close();
      return lines;
    },
    async stop() {
      await seller?.kill();
      await redis?.stop();
    },
  };
}

/** Lets the stock client make the payment of an errand, without sending it. */
export async function makePayment(
  sandbox: TestSandbox,
  seller: Pick<Seller, "url">,
  errand: Errand,
  path = "/v1/errand",
): Promise<Send> {
  const challenge = await fetch(seller.url + path, json(errand));
  const payment = await signFor(await stockClient(sandbox, "base"), challenge);
  return ({ url }) => fetch(url + path, json(errand, payment));
}

/** Repeats the same payment, as the answers tell, until the job is accepted. */
export async function insist(send: Send, seller: Pick<Seller, "url">): Promise<string> {
  const accepted = await eventually(async () => {
    const response = await send(seller);
    const body = (await response.json()) as AcceptedJob;
    if (response.status === 200) return body;
    expect([409, 503], JSON.stringify(body)).to.include(response.status);
    return undefined;
  });
  return (accepted as AcceptedJob).job_id;
}

/** Waits for the end of a job, and for the refund of one that has failed. */
export async function follow({ url }: Pick<Seller, "url">, id: string): Promise<JobStatus> {
  return eventually(
    async () => (await (await fetch(`${url}/v1/errand/${id}`)).json()) as JobStatus,
    ({ status, refund_tx }) => status === "DELIVERED" || (status === "FAILED" && refund_tx !== null),
    POLL_MS,
  );
}

/** How often each step of an errand was done. */
export function countSteps(log: string, { what }: Errand): number[] {
  const lines = readFileSync(log, "utf8").split("\n");
  return ["one", "two", "three"].map((step) => lines.filter((line) => line === `${what} ${step}`).length);
}
