import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { startServer } from "./contestant.ts";

/** What one account of many transfers takes, in a process of its own beside the node's. */
export interface LedgerRow {
  readonly title: string;
  readonly ms: number;
  /** At the most, and before the question. */
  readonly megabytes: number;
  readonly idleMegabytes: number;
}

const RUNS = 5;
const CASES = [
  { title: "summary of 25,000 transfers in 100 days", id: "ledger_summary", transfers: 25_000 },
  { title: "report of 75,000 transfers in 100 days", id: "ledger_report", transfers: 75_000 },
];

/** The medians of several runs. */
export async function measureLedger(): Promise<LedgerRow[]> {
  const rows: LedgerRow[] = [];
  for (const { title, id, transfers } of CASES) {
    const node = await startServer("base-node", String(transfers));
    try {
      rows.push({ title, ...(await measure(id, node.url)) });
    } finally {
      await node.stop();
    }
  }
  return rows;
}

async function measure(id: string, url: string): Promise<Omit<LedgerRow, "title">> {
  const runs: { readonly ms: number; readonly idleBytes: number; readonly peakBytes: number }[] = [];
  for (let count = 0; count < RUNS; count += 1) {
    const program = join(import.meta.dirname, "servers", "ledger.ts");
    const { stdout } = await promisify(execFile)(process.execPath, [program, id, url]);
    runs.push(JSON.parse(stdout));
  }
  const middle = (key: "ms" | "idleBytes" | "peakBytes"): number =>
    runs.map((run) => run[key]).sort((one, other) => one - other)[Math.floor(RUNS / 2)] ?? Number.NaN;
  return { ms: middle("ms"), megabytes: middle("peakBytes") / 1e6, idleMegabytes: middle("idleBytes") / 1e6 };
}
