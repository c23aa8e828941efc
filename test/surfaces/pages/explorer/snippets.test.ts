import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { toCurl, toSnippets } from "../../../../runtime/surfaces/pages/snippets.ts";
import { sharedSandbox, site, type TestSandbox } from "../../../support/chains/chains.ts";
import { INHERITED } from "../../../support/inherited.ts";
import { withCurl } from "../../../support/programs.ts";
import { showSet } from "../../support/fixture-set.ts";
import { type Counter, openCounter, sharedCounter } from "./support/counter.ts";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "../../../..");

describe("a snippet of the explorer's", () => {
  let sandbox: TestSandbox;
  let counter: Counter;
  before(async () => {
    sandbox = await sharedSandbox();
    counter = await sharedCounter(true);
  });

  async function codeOf(title: string): Promise<string> {
    const { service } = await showSet(ROOT);
    return toSnippets(service("roll"), site, counter.url).find((one) => one.title === title)?.code ?? "";
  }

  withCurl.it("asks as it stands: curl", async () => {
    const { stdout } = await run("sh", ["-c", `${await codeOf("curl")} --silent`]);
    expect(stdout)
      .to.match(/^HTTP\/1.1 402 /)
      .and.include("PAYMENT-REQUIRED: ");
  });

  it("is the front page's example: the shortest of what is paid, with curl", async () => {
    const page = await fetch(counter.url, { headers: { accept: "text/html" } });
    const { services } = await showSet(ROOT);
    const paid = services.filter(({ manifest }) => manifest.price !== undefined);
    const commands = paid.map((service) => toCurl(service, counter.url)).sort((a, b) => a.length - b.length);
    const command = (commands[0] ?? "").replaceAll("'", "&#39;").replaceAll('"', "&quot;");
    const text = (await page.text()).replaceAll(/<\/?span[^>]*>/g, "");
    expect(text).to.include(`<code>${command}</code>`);
  });

  it("pays as it stands: fetch", async () => {
    const code = await codeOf("fetch");
    const env = { PATH: process.env.PATH, BUYER_EVM_KEY: sandbox.description.buyer.evm.private_key };
    const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", code], { cwd: ROOT, env });
    expect(stdout).to.include("treasure_drop_42").and.include("eip191");
  });

  it("uses the free calls of a wallet before it pays: fetch", async () => {
    const free = { calls: 1, per: "day" } as const;
    const giving = await openCounter(true, free);
    try {
      const roll = (await showSet(ROOT)).service("roll");
      const service = { ...roll, manifest: { ...roll.manifest, free } };
      const code = toSnippets(service, site, giving.url).find(({ title }) => title === "fetch")?.code ?? "";
      const env = { PATH: process.env.PATH, BUYER_EVM_KEY: sandbox.description.buyer.evm.private_key };
      const held = () => sandbox.usdc.balanceOf(sandbox.description.buyer.evm.address);
      for (const price of [0n, 1000n]) {
        const before = await held();
        const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", code], { cwd: ROOT, env });
        expect(stdout).to.include("eip191");
        expect(before - (await held())).to.equal(price);
      }
    } finally {
      await giving.close();
    }
  });

  it("is no command where a wallet must sign in, since `payphone call` does not", async () => {
    const { service } = await showSet(ROOT);
    const titlesOf = (id: string) => toSnippets(service(id), site, counter.url).map(({ title }) => title);
    expect(titlesOf("purchases")).to.deep.equal(["curl", "MCP"]);
    expect(titlesOf("attest_verify")).to.deep.equal(["curl", "MCP", "CLI"]);
  });

  it("pays as it stands: the command line", async () => {
    const command = (await codeOf("CLI")).replace(/^npx payphone/m, `${process.execPath} runtime/cli/payphone.js`);
    const { stdout } = await run("sh", ["-c", command], { cwd: ROOT, env: INHERITED });
    expect(JSON.parse(stdout)).to.include({ label: "treasure_drop_42", scheme: "eip191" });
  });
});
