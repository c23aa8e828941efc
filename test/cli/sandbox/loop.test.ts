import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { parse } from "yaml";
import { readHistory } from "../../../runtime/cli/operate/changes.ts";
import { createFacilitatorTrust } from "../../../runtime/core/payments/trust.ts";
import type { SiteManifest } from "../../../runtime/core/set/manifest.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import { openStore } from "../../../runtime/drivers/store/open-store.ts";
import type { ReadyReport } from "../../../runtime/server/routes/status.ts";
import { edit, makeDirectory, TOSS, writeFiles } from "../../core/set/served-directory.ts";
import { eventually } from "../../support/eventually.ts";
import { createFolder } from "../../support/folder.ts";
import { INHERITED } from "../../support/inherited.ts";
import { startSandboxServer } from "../../support/sellers/sandbox-server.ts";

const LAUNCHER = join(import.meta.dirname, "../../../runtime/cli/payphone.js");

/** Stands in for somebody who edits the price while the sandbox starts. */
const EDITS_AT_START = `
import { readFileSync, writeFileSync } from "node:fs";
const manifest = new URL("../manifests/toss.yaml", import.meta.url);
writeFileSync(manifest, readFileSync(manifest, "utf8").replace("0.005", "0.01"));
`;

/** What a sandbox keeps when it was stopped before its chain had shown a settlement. */
async function distrust(dataDir: string): Promise<void> {
  const store = await openStore({ dataDir });
  const [clock, facilitator, network] = [{ now: Date.now }, "remote", "eip155:8453"];
  const site = parse(TOSS["manifests/_site.yaml"] as string) as SiteManifest;
  const trust = createFacilitatorTrust({ site, store, clock, log: silentLog });
  const claim = { payment: "eip155:8453:0x1", transaction: "0x2", claimedAt: Date.now() };
  trust.withdraw({ facilitator, network, ...claim });
  await eventually(() => store.get(`untrusted:${network}:${facilitator}`));
  await store.close();
}

describe("a sandbox that somebody works in", function () {
  this.timeout(120_000);
  const data = createFolder();
  let dir: string;
  let child: ChildProcess;
  let output = "";
  let url: string;

  before(async () => {
    dir = await makeDirectory({
      ...edit(TOSS, "manifests/toss.yaml", "0.01", "0.005"),
      "plugins/toss.ts": `${EDITS_AT_START}${TOSS["plugins/toss.ts"]}`,
    });
    await distrust(join(data, "sandbox"));
    writeFileSync(join(data, "redis-url"), "redis://127.0.0.1:1");
    const real = { REDIS_URL_FILE: join(data, "redis-url"), PUBLIC_BASE_URL: "https://pay.example.com" };
    const env = { ...INHERITED, ...real, PORT: "0", PAYPHONE_DATA_DIR: data, LOG_FORMAT: "text" };
    child = spawn(process.execPath, [LAUNCHER, "sandbox", "--dir", dir], { env, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [child.stdout, child.stderr])
      stream?.on("data", (chunk) => {
        output += chunk;
      });
    await eventually(() => /listening on \S+\n/.test(output));
    url = /listening on (\S+)/.exec(output)?.[1] ?? "";
  });
  after(async () => {
    const gone = once(child, "exit");
    child.kill("SIGTERM");
    await gone;
  });
  const challenge = async (): Promise<string> => (await fetch(`${url}/v1/toss`, { method: "POST" })).text();
  const said = async (pattern: RegExp): Promise<void> => {
    await eventually(() => pattern.test(output));
    output = "";
  };

  it("believes its facilitator, though its chains have forgotten what was settled before it was stopped", async () => {
    const ready = async (): Promise<ReadyReport> => (await (await fetch(`${url}/ready`)).json()) as ReadyReport;
    const report = await eventually(ready, ({ rails }) => rails.every(({ state }) => state === "up"));
    expect(report).to.not.have.property("distrusted");
  });

  it("keeps its state in its folder, where a file names the Redis of the real shop", async () => {
    const report = await (await fetch(`${url}/ready`)).json();
    expect(report).to.deep.include({ store: "up" });
  });

  it("names itself as the seller, where a variable names the real shop", async () => {
    expect(await challenge())
      .to.include(`"url":"${url}/v1/toss"`)
      .and.not.include("pay.example.com");
  });

  it("sells what was edited while it started, and says so", async () => {
    await said(/~ toss {2}\$0\.005 → \$0\.01 \(\+100 %\)\napplied in \d+ ms/);
    expect(await challenge()).to.include('"amount":"10000"');
  });

  it("lets no second one into its data directory, which would sell on other chains into the same book", async () => {
    const second = startSandboxServer(["--dir", dir], { PAYPHONE_DATA_DIR: data });
    const said = await second.then(
      ({ stop }) => stop(),
      ({ message }: Error) => message,
    );
    expect(said).to.match(/ended with code 1: payphone: A sandbox runs on .* already .*PORT and a PAYPHONE_DATA_DIR/);
  });

  it("logs each call in one line for people", async () => {
    await challenge();
    await said(/^\d\d:\d\d:\d\d {2}POST \/v1\/toss +toss +402 {2}\d+ ms {2}payment-required$/m);
  });

  it("sells an edited manifest at once, and says what has changed", async () => {
    const { "manifests/toss.yaml": dearer = "" } = edit(TOSS, "manifests/toss.yaml", "0.01", "0.02");
    await writeFiles(dir, { "manifests/toss.yaml": dearer });
    await said(/~ toss {2}\$0\.01 → \$0\.02 \(\+100 %\)\napplied in \d+ ms/);
    expect(await challenge()).to.include('"amount":"20000"');
    const sold = await readHistory({ dataDir: data });
    expect(sold.map(({ what, by }) => `${what} by ${by}`)).to.deep.equal([
      "start by start",
      "apply by watch",
      "apply by watch",
    ]);
  });

  it("prints the faults of an edit as check does, at the plugin's own line, and goes on with what it sold", async () => {
    await writeFiles(dir, { "plugins/toss.ts": `${TOSS["plugins/toss.ts"]}const broken: = 1;\n` });
    await said(/^plugins\/toss\.ts:9:\d+ .*\n1 fault in 1 file[\s\S]*goes on/m);
    expect(await challenge()).to.include('"amount":"20000"');
    await writeFiles(dir, { "plugins/toss.ts": `${EDITS_AT_START}${TOSS["plugins/toss.ts"]}` });
    await said(/^no faults any more: the folder is what is sold$/m);
    await writeFiles(dir, {
      ...edit(TOSS, "manifests/toss.yaml", "0.01", "0.03"),
      "plugins/toss.ts": (TOSS["plugins/toss.ts"] as string)
        .replace("() => ({", '() => {\n  throw new Error("no coins");\n  return ({')
        .replace("}));", "})});"),
    });
    await said(/^plugins\/toss\.ts:5:\d+ .*no coins/m);
    await writeFiles(dir, edit(TOSS, "manifests/toss.yaml", "0.01", "0.03"));
    await said(/applied in \d+ ms/);
    expect(await challenge()).to.include('"amount":"30000"');
  });

  it("applies what its chains know nothing of, as a rail's title or that it is left out, and says which rail is new", async () => {
    const site = TOSS["manifests/_site.yaml"] as string;
    const rails = async (): Promise<readonly string[]> => {
      const document = await (await fetch(`${url}/.well-known/x402`)).json();
      return (document as { networks: { title: string }[] }).networks.map(({ title }) => title);
    };
    const change = (text: string): Promise<void> => writeFiles(dir, { "manifests/_site.yaml": text });
    const retitled = site.replace("title: USDC on Base", "title: Dollars on Base");
    await change(retitled);
    await said(/applied in \d+ ms/);
    expect(await rails()).to.deep.equal(["Dollars on Base", "USDC on Solana", "JPYC on Polygon"]);
    const second = /^ {2}- id: solana$[\s\S]*?(?=^ {2}- id: polygon)/m.exec(site)?.[0] as string;
    await change(site.replace(second, ""));
    await said(/applied in \d+ ms/);
    expect(await rails()).to.deep.equal(["USDC on Base", "JPYC on Polygon"]);
    await change(
      retitled.replace("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", "So11111111111111111111111111111111111111112"),
    );
    await said(/^The rail solana is new or another one, and a sandbox makes .* start it again\n.*goes on$/m);
    expect(await rails()).to.deep.equal(["USDC on Base", "JPYC on Polygon"]);
    await change(site);
    await said(/applied in \d+ ms/);
  });
});
