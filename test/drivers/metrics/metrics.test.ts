import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { PROBLEMS } from "../../../runtime/api/problem.ts";
import { findProgram } from "../../run/programs.ts";
import { eventually } from "../../support/eventually.ts";
import { withProgram } from "../../support/programs.ts";
import { type MetricsStage, openMetricsStage, trade } from "./stage.ts";

const ROOT = join(import.meta.dirname, "../../..");
const DASHBOARD = join(ROOT, "runtime/deploy/grafana-dashboard.json");

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[];
}

/** Runs promtool; gives what it wrote. */
function promtool(args: readonly string[], input = ""): { code: number | null; text: string } {
  const { status, stdout, stderr } = spawnSync(findProgram("promtool") as string, args, { input, encoding: "utf8" });
  return { code: status, text: stdout + stderr };
}

withProgram("prometheus").describe("what Prometheus reads", () => {
  let stage: MetricsStage;
  before(async () => {
    stage = await openMetricsStage();
    trade(stage.metrics.count);
  });
  after(() => stage.close());

  it("has names and units as promtool wants them", async () => {
    expect(promtool(["check", "metrics"], await stage.metrics.scrape())).to.deep.equal({ code: 0, text: "" });
  });

  it("shows no payer, and no series beyond those of the set", async () => {
    const text = await stage.metrics.scrape();
    expect(text).not.to.match(/0x[0-9a-f]{8}/i);
    const labels = new Set(
      Array.from(text.matchAll(/payphone_\w+\{([^}]*)\}/g), ([, inside = ""]) => inside.replace(/="[^"]*"/g, "")),
    );
    expect(
      [...labels]
        .join(",")
        .split(",")
        .filter((name) => !KNOWN.includes(name)),
    ).to.deep.equal([]);
  });

  it("answers every query of the dashboard", async () => {
    const { panels } = JSON.parse(readFileSync(DASHBOARD, "utf8")) as Dashboard;
    await stage.scraped(3);
    const isSilent = async (expr: string): Promise<boolean> =>
      (await stage.query(expr.replaceAll("$__rate_interval", "5m").replaceAll("$service", ".*"))).length === 0;
    let silent = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    // A scrape that a busy machine was too late for leaves gauges without a value until the next one.
    await eventually(async () => {
      silent = (await Promise.all(silent.map(async (expr) => ((await isSilent(expr)) ? [expr] : [])))).flat();
      return silent.length === 0;
    }).catch(() => {});
    expect(silent).to.deep.equal([]);
    expect(panels).to.have.length.above(10);
  });

  it("shows what was taken in, and forgets a rail that is not there any more", async () => {
    const text = await stage.metrics.scrape();
    expect(text).to.include('payphone_revenue_usd_total{service="roll",rail="base"} 0.3');
    expect(text).to.include('payphone_rail_up{rail="solana"} 0');
    expect(text)
      .to.match(/^payphone_store_up 1$/m)
      .and.to.match(/^payphone_warnings 1$/m);
    expect(text).to.include('payphone_facilitator_distrusted{facilitator="first",network="eip155:8453"} 1');
    stage.state = { ...stage.state, rails: [{ rail: "base", isUp: true }] };
    expect(await stage.metrics.scrape()).not.to.include('payphone_rail_up{rail="solana"}');
  });

  it("measures calls, settlements and upstreams in seconds", async () => {
    const text = await stage.metrics.scrape();
    const sums = Array.from(text.matchAll(/^payphone_(\w+_seconds)_sum\{.*\} (\S+)$/gm), ([, name, sum]) => [
      name,
      sum,
    ]);
    expect(sums).to.deep.equal([
      ["call_seconds", "0.012"],
      ["settlement_seconds", "0.9"],
      ["upstream_seconds", "0.08"],
      ["upstream_seconds", "0.08"],
    ]);
  });

  it("counts challenges from 0 on at each door, so that the first one is an increase", async () => {
    const text = await stage.metrics.scrape();
    for (const door of ["rest", "mcp", "a2a"])
      expect(text).to.match(new RegExp(`^payphone_challenges_total\\{service="roll",door="${door}"\\} \\d`, "m"));
  });

  it("raises no alarm for what is wrong with requests, and one for every problem on the shop's side", () => {
    const rules = readFileSync(join(ROOT, "runtime/deploy/prometheus-rules.yaml"), "utf8");
    const ours = Object.entries(PROBLEMS).flatMap(([code, { status }]) => (status >= 500 ? [code] : []));
    expect(rules.match(/failed:\([^)]*\)/g)).to.deep.equal(Array(2).fill(`failed:(${ours.join("|")})`));
  });

  it("raises the alarms that the rules name", () => {
    expect(promtool(["check", "rules", join(ROOT, "runtime/deploy/prometheus-rules.yaml")]).code).to.equal(0);
    const { code, text } = promtool(["test", "rules", join(ROOT, "test/fixtures/deploy/alerts.yaml")]);
    expect(code, text).to.equal(0);
  });
});

const KNOWN = ["facilitator", "service", "door", "rail", "outcome", "upstream", "network", "state", "le"];
