import { join } from "node:path";
import { createFolder } from "../support/folder.ts";
import { type Contestant, startAnswering, startServer } from "./contestant.ts";
import { median } from "./median.ts";
import { PAY_TO } from "./shop.ts";

/** How long one program takes from its start to its first answer, and how much memory it holds then. */
export interface StartRow {
  readonly title: string;
  readonly goal: string;
  readonly ms: number;
  readonly megabytes: number;
}

const STARTS = 5;

/** Starts the real `payphone serve`, the peer and the bare server in turn, and takes the medians. */
export async function measureStart(): Promise<StartRow[]> {
  const folder = createFolder();
  const facilitator = await startServer("facilitator");
  const launcher = join(import.meta.dirname, "../..", "runtime", "cli", "payphone.js");
  const env = toLiveEnv(folder, facilitator.url);
  try {
    return [
      await measure("`payphone serve`, all its services", "≤ 300 ms, ≤ 95 MB", () =>
        startAnswering([launcher, "serve"], env, "/health"),
      ),
      await measure("@x402/express, 18 routes", "", () => answering(startServer("peer", facilitator.url))),
      await measure("bare", "", () => answering(startServer("bare"))),
    ];
  } finally {
    await facilitator.stop();
  }
}

/** A server that listens, once it has answered, too. */
async function answering(starting: Promise<Contestant>): Promise<Contestant> {
  const running = await starting;
  await (await fetch(running.url)).arrayBuffer();
  return running;
}

/** After one start that fills the caches of compiled code, as every start but a machine's first has them. */
async function measure(title: string, goal: string, begin: () => Promise<Contestant>): Promise<StartRow> {
  const seen: { ms: number; megabytes: number }[] = [];
  for (let count = -1; count < STARTS; count += 1) {
    const began = performance.now();
    const running = await begin();
    if (count >= 0) seen.push({ ms: performance.now() - began, megabytes: running.memory() / 1e6 });
    await running.stop();
  }
  return { title, goal, ms: median(seen.map(({ ms }) => ms)), megabytes: median(seen.map((one) => one.megabytes)) };
}

/** A live configuration whose chains are never called: nothing is bought. The keys are nobody's. */
export function toLiveEnv(folder: string, facilitator: string): NodeJS.ProcessEnv {
  const rpc = "http://127.0.0.1:9/";
  return {
    ...process.env,
    LOG_LEVEL: "warn",
    PAYPHONE_DATA_DIR: folder,
    PUBLIC_BASE_URL: "https://bench.example",
    FACILITATOR_URL: facilitator,
    TREASURY_EVM_KEY: `0x${"11".repeat(32)}`,
    TREASURY_SOLANA_KEY: "4NMwxzmYj2uvHuq8xoqhY8RXg63KSVJM1DXkpbmkUY7YQWuoyQgFnnzn6yo3CMnqZasnNPNuAT2TLwQsCaKkUddp",
    BASE_PAYMENT_ADDRESS: PAY_TO.evm,
    POLYGON_PAYMENT_ADDRESS: PAY_TO.evm,
    SOLANA_PAYMENT_ADDRESS: PAY_TO.solana,
    BASE_RPC_URL: rpc,
    ETHEREUM_RPC_URL: rpc,
    POLYGON_RPC_URL: rpc,
    SOLANA_RPC_URL: rpc,
  };
}
