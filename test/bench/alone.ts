import { Agent, type RequestOptions, request } from "node:http";
import { join } from "node:path";
import { createFolder } from "../support/folder.ts";
import { startServer } from "./contestant.ts";
import { payer } from "./load.ts";
import { toFigures } from "./median.ts";
import { BODY, PATHS } from "./shop.ts";

/** How long one paid call takes where nothing else is asked for, in milliseconds. */
export interface AloneRow {
  readonly title: string;
  readonly goal: string;
  readonly p50: number;
  readonly p99: number;
}

const CALLS = 3000;
const WARM_UP = 1000;
/** So many calls to one server before the next one's turn. */
const TURN = 100;

/** One connection to each server, one call after the other, turn by turn; the facilitator's stub is in the process. */
export async function measureAlone(): Promise<readonly AloneRow[]> {
  process.stderr.write("alone ");
  const folder = createFolder();
  const sellers = {
    payphone: await startServer("payphone", join(folder, "state.sqlite")),
    peer: await startServer("peer"),
    bare: await startServer("bare"),
  };
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  try {
    const path = PATHS[0] as string;
    const ofPayphone = await payer(sellers.payphone.url + path);
    const contestants = [
      { title: "payphone, on a file", goal: "≤ 0.6 / ≤ 2", url: sellers.payphone.url, pay: ofPayphone },
      {
        title: "`@x402/express`, nothing durable",
        goal: "",
        url: sellers.peer.url,
        pay: await payer(sellers.peer.url + path),
      },
      { title: "a bare server", goal: "", url: sellers.bare.url, pay: ofPayphone },
    ];
    const taken = contestants.map((): number[] => []);
    for (let sent = -WARM_UP; sent < CALLS; sent += TURN) {
      for (const [which, { url, pay }] of contestants.entries())
        for (let at = 0; at < TURN; at += 1) {
          const ms = await time(url + path, pay(), agent);
          if (sent >= 0) taken[which]?.push(ms);
        }
      process.stderr.write(".");
    }
    return contestants.map(({ title, goal }, which) => ({ title, goal, ...toFigures(taken[which] ?? []) }));
  } finally {
    agent.destroy();
    await Promise.all(Object.values(sellers).map((running) => running.stop()));
    process.stderr.write("\n");
  }
}

/** @throws Error when the call is not answered with 200. */
function time(url: string, payment: string, agent: Agent): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const headers = { "content-type": "application/json", "content-length": BODY.length, "payment-signature": payment };
  const options: RequestOptions = { method: "POST", agent, headers };
  const began = performance.now();
  const call = request(url, options, (response) => {
    if (response.statusCode !== 200) reject(new Error(`${url} was answered with ${response.statusCode}`));
    response.resume().on("end", () => resolve(performance.now() - began));
  });
  call.on("error", reject).end(BODY);
  return promise;
}

export function printAlone(rows: readonly AloneRow[]): readonly AloneRow[] {
  console.log("\n| paid call, one at a time on one connection | p50 / p99 ms | goal |\n|---|---|---|");
  for (const { title, goal, p50, p99 } of rows)
    console.log(`| ${title} | ${p50.toFixed(2)} / ${p99.toFixed(2)} | ${goal} |`);
  return rows;
}
