import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { findProcesses } from "../../runtime/cli/operate/ask.ts";
import { edit, type Files, makeDirectory, TOSS, writeFiles } from "../core/set/served-directory.ts";
import { sharedSandbox, type TestSandbox } from "../support/chains/chains.ts";
import { createFolder } from "../support/folder.ts";
import { type Seller, startSeller } from "../support/sellers/seller.ts";
import { createBuyer, json, signFor, stockFetch } from "../support/sellers/stock-buyer.ts";
import { collectedMemory, INSPECTED } from "./support/collected.ts";
import { operate } from "./support/operate.ts";

/** `npm test` applies some sets; `npm run test:crash` says how many, and how often a process is killed meanwhile. */
const APPLIES = Number(process.env.APPLY_ROUNDS ?? 0) || 6;
const KILLS = Number(process.env.APPLY_KILLS ?? 0) || 1;
/** After so many calls a seller under this load holds what the load alone makes it hold. */
const WARM_CALLS = APPLIES > 100 ? 6000 : 20;
/** Of what V8 cannot free. */
const MOST_GROWTH_BYTES = 50_000_000;
/** A swap takes microseconds. A busy machine rarely interrupts it, so that more than one slow swap in 100 is a fault. */
const SLOW_SWAP_MS = 50;

const JOB = `id: work
title: Work
description: Works.
route: POST /v1/work
price: "0.02"
handler: work.work
input: { type: object }
output: { type: object, properties: { done: { type: boolean } }, required: [done] }
tags: [work]
job: { status_route: "GET /v1/work/{job_id}", eta_seconds: 1, deadline_seconds: 30, attempts: 1, concurrency: 4, queue_limit: 100, refund: false }
examples:
  - input: {}
`;
const PLUGIN = `import { definePlugin } from "#plugin";

export default definePlugin("work", () => ({
  async work() {
    await new Promise((done) => setTimeout(done, 300));
    return { done: true };
  },
}));
`;

/** The site, which turns nobody away. */
const SITE = TOSS["manifests/_site.yaml"]?.replaceAll(/(unpaid_\w+): \d+/g, "$1: 1000000") ?? "";

/** The set of a number: price, description and plugin say which one it is. */
function setOf(number: number, withPlugin = false): Files {
  const priced = edit(
    { ...TOSS, "manifests/_site.yaml": SITE, "manifests/work.yaml": JOB, "plugins/work.ts": PLUGIN },
    "manifests/toss.yaml",
    "0.01",
    priceOf(number),
  );
  const said = edit(priced, "manifests/toss.yaml", "Tosses fair coins.", `Tosses fair coins, in set ${number}.`);
  return withPlugin ? edit(said, "plugins/toss.ts", "({ coins }) {", `({ coins }) {\n    void ${number};`) : said;
}

const priceOf = (number: number): string => `0.0${10 + (number % 20)}`;
const amountOf = (number: number): string => String((10 + (number % 20)) * 1000);

/** What went wrong, by its sentence. */
type Failures = Map<string, number>;

describe("a shop whose sets are changed under load", function () {
  this.timeout(3 * 60 * 60_000);
  const data = createFolder();
  let sandbox: TestSandbox;
  let dir: string;
  let seller: Seller;

  before(async () => {
    [sandbox, dir] = await Promise.all([sharedSandbox(), makeDirectory(setOf(0))]);
    const env = { ...INSPECTED, LOG_LEVEL: "silent" };
    seller = await startSeller({ sandbox, dataDir: data, dir, env });
  });
  after(() => seller?.stop());

  it(`refuses no call and reprices no offer in ${APPLIES} applies`, async () => {
    const load = await startLoad(sandbox, seller);
    const [socket = ""] = await findProcesses(data);
    const swaps: number[] = [];
    while (load.calls() < WARM_CALLS) await sleep(100);
    const began = await collectedMemory(seller);
    try {
      for (let number = 1; number <= APPLIES; number += 1) {
        await writeFiles(dir, setOf(number));
        const { times } = await operate.apply(socket);
        swaps.push(times?.swapMs ?? Number.POSITIVE_INFINITY);
      }
    } finally {
      await load.stop();
    }
    const { memory_bytes: most } = await operate.status(socket);
    const left = await collectedMemory(seller);
    const memory = `${toMegabytes(most)} MB at the end, ${toMegabytes(left)} of them in use: ${toMegabytes(left - began)} more than before the first`;
    const told = `${load.calls()} calls, ${APPLIES} applies, swaps of ${Math.max(...swaps)} ms at most, ${memory}`;
    console.log(`      ${told}`);
    expect([...load.failures], told).to.deep.equal([]);
    expect(swaps.filter((ms) => ms >= SLOW_SWAP_MS).length, told).to.be.at.most(Math.ceil(APPLIES / 100));
    expect(left - began, told).to.be.below(MOST_GROWTH_BYTES);
  });

  it(`sells the old or the new set, never a mix, after each of ${KILLS} kills amid an apply`, async () => {
    const client = await createBuyer(sandbox);
    const pay = await stockFetch(sandbox, "base");
    const seen = new Map<string, number>();
    const apply = async (number: number): Promise<string> => {
      const [socket = ""] = await findProcesses(data);
      await writeFiles(dir, setOf(number, true));
      return operate.apply(socket).then(
        () => "applied",
        () => "cut off",
      );
    };
    const port = Number(new URL(seller.url).port);
    const began = performance.now();
    expect(await apply(APPLIES + 1)).to.equal("applied");
    const applyMs = performance.now() - began;
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const number = APPLIES + 1 + kill;
      const challenge = await fetch(`${seller.url}/v1/toss`, { method: "POST" });
      const quoted = await signFor(client, challenge);
      const applying = apply(number);
      await sleep((applyMs * kill) / (KILLS + 1));
      await seller.kill();
      const how = await applying;
      seen.set(how, (seen.get(how) ?? 0) + 1);

      seller = await startSeller({ sandbox, dataDir: data, dir, port });
      const text = await (await fetch(`${seller.url}/v1/toss`, { method: "POST" })).text();
      const sold = [number - 1, number].find((one) => text.includes(`in set ${one}.`)) ?? expect.fail(text);
      expect(text).to.include(`"amount":"${amountOf(sold)}"`);
      const bought = await fetch(`${seller.url}/v1/toss`, json({}, quoted));
      expect(bought.status, `the quote of set ${number - 1}, ${how}: ${await bought.clone().text()}`).to.equal(200);
      expect((await pay(`${seller.url}/v1/toss`, json({}))).status).to.equal(200);
    }
    console.log(`      ${[...seen].map(([how, count]) => `${count} ${how}`).join(", ")}`);
  });
});

/** Buyers on two rails and of jobs, and a client of MCP, one call after the other. */
async function startLoad(sandbox: TestSandbox, { url }: Seller) {
  const failures: Failures = new Map();
  const [base, solana] = await Promise.all([stockFetch(sandbox, "base"), stockFetch(sandbox, "solana")]);
  let calls = 0;
  let isOver = false;

  const note = (why: string): void => void failures.set(why, (failures.get(why) ?? 0) + 1);
  const run = async (name: string, call: () => Promise<Response>): Promise<void> => {
    while (!isOver) {
      try {
        const response = await call();
        const text = await response.text();
        if (response.status !== 200) note(`${name}: ${response.status} ${text.slice(0, 200)}`);
      } catch (error) {
        note(`${name}: ${String(error)} ${String((error as Error).cause ?? "")}`);
      }
      calls += 1;
    }
  };
  const buyJob = async (): Promise<Response> => {
    const accepted = await base(`${url}/v1/work`, json({}));
    if (accepted.status !== 200) return accepted;
    const { status_url } = (await accepted.json()) as { readonly status_url: string };
    for (;;) {
      const told = await fetch(status_url);
      const text = await told.clone().text();
      if (told.status !== 200 || text.includes("DELIVERED")) return told;
      if (text.includes("FAILED") || text.includes("UNKNOWN")) return new Response(text, { status: 500 });
      await sleep(100);
    }
  };
  const rpc = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const askMcp = (): Promise<Response> => fetch(`${url}/mcp`, { method: "POST", headers, body: JSON.stringify(rpc) });
  const running = [
    run("base", () => base(`${url}/v1/toss`, json({}))),
    run("base", () => base(`${url}/v1/toss`, json({}))),
    run("solana", () => solana(`${url}/v1/toss`, json({}))),
    run("job", buyJob),
    run("mcp", askMcp),
  ];
  return {
    failures,
    calls: () => calls,
    async stop() {
      isOver = true;
      await Promise.all(running);
    },
  };
}

const toMegabytes = (bytes: number): number => Math.round(bytes / 1e5) / 10;
