import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import {
  createMetrics,
  type MetricCounts,
  type Metrics,
  type ShopState,
} from "../../../runtime/drivers/metrics/metrics.ts";
import { findProgram } from "../../run/programs.ts";
import { eventually } from "../../support/eventually.ts";
import { createFolder } from "../../support/folder.ts";
import { findFreePort } from "../../support/free-port.ts";

/** Metrics behind a real Prometheus. */
export interface MetricsStage {
  readonly metrics: Metrics;
  state: ShopState;
  /** Fulfils when Prometheus has scraped so often. */
  scraped(times: number): Promise<void>;
  /** The series that a query gives. */
  query(expr: string): Promise<readonly unknown[]>;
  close(): Promise<void>;
}

const STATE: ShopState = {
  isStoreUp: true,
  warnings: 1,
  rails: [
    { rail: "base", isUp: true },
    { rail: "solana", isUp: false },
  ],
  distrusted: [{ facilitator: "first", network: "eip155:8453" }],
  services: ["roll"],
  upstreams: [{ upstream: "coingecko", isUp: true }],
  jobs: [{ service: "investigate", inLine: 2 }],
  refunds: { pending: 0, late: 0, manual: 1 },
  treasury: [{ network: "eip155:137", coins: 12.5, least: 20 }],
};

/** One of everything. */
export function trade(count: MetricCounts): void {
  count.challenges("roll", "rest", 5);
  for (const outcome of ["result", "replay", "refused:insufficient_funds", "failed:upstream-failed"])
    count.payments({ service: "roll", door: "rest", rail: "base", outcome }, 3);
  for (let sold = 0; sold < 3; sold += 1) count.sale({ service: "roll", rail: "base", usd: "0.1" });
  for (const outcome of ["hit", "miss"]) count.cacheReads("roll", outcome, 1);
  count.call("roll", "rest", 12);
  count.settlement("base", 900);
  count.upstream("coingecko", "ok", 80);
  count.upstream("coingecko", "failed", 80);
  count.jobEnded("investigate", "failed");
  count.refund("investigate");
}

export async function openMetricsStage(): Promise<MetricsStage> {
  const stage = { state: STATE };
  const metrics = createMetrics(async () => stage.state);
  const server = createServer(async (_request, response) => {
    response.setHeader("content-type", metrics.contentType).end(await metrics.scrape());
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const prometheus = await startPrometheus((server.address() as AddressInfo).port);
  return Object.assign(stage, {
    metrics,
    scraped: (times: number) =>
      eventually(
        () => prometheus.query("count_over_time(payphone_rail_up[1h])"),
        async ([first]) => Number((first as { value?: [number, string] } | undefined)?.value?.[1] ?? 0) >= times,
      ).then(() => {}),
    query: prometheus.query,
    async close() {
      await prometheus.close();
      server.closeAllConnections();
      server.close();
    },
  });
}

async function startPrometheus(target: number): Promise<Pick<MetricsStage, "query" | "close">> {
  const folder = createFolder();
  const file = join(folder, "prometheus.yml");
  const scrape = `{ job_name: payphone, static_configs: [{ targets: ["127.0.0.1:${target}"] }] }`;
  writeFileSync(file, `global: { scrape_interval: 200ms, scrape_timeout: 200ms }\nscrape_configs: [${scrape}]\n`);
  const port = await findFreePort();
  const options = [
    `--config.file=${file}`,
    `--storage.tsdb.path=${folder}/data`,
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  const child = spawn(findProgram("prometheus") as string, options, { stdio: "ignore" });
  const gone = once(child, "exit");
  const url = `http://127.0.0.1:${port}`;
  await eventually(
    () => fetch(`${url}/-/ready`).catch(() => undefined),
    async (response) => response?.ok === true,
  );
  return {
    async query(expr) {
      const answer = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(expr)}`);
      const body = (await answer.json()) as { status: string; error?: string; data: { result: unknown[] } };
      if (body.status !== "success") throw new Error(`${expr}: ${body.error}`);
      return body.data.result;
    },
    async close() {
      child.kill("SIGTERM");
      await gone;
    },
  };
}
