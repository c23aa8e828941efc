import { expect } from "chai";
import { readConfig } from "../../../runtime/cli/config/config.ts";
import { type LiveFinding, probe } from "../../../runtime/cli/live/probe.ts";
import { probeTools } from "../../../runtime/cli/live/tools.ts";
import { loadSet } from "../../../runtime/cli/set/load.ts";
import { makeDirectory } from "../../core/set/served-directory.ts";
import { siteOf } from "../../support/sellers/site-of.ts";
import { openToolSite, type SiteTool, type ToolSite } from "../../support/sources/tool-site.ts";

const TOOL: SiteTool = { name: "rate", inputSchema: { type: "object" }, run: () => ({ content: [] }) };

const RATE = `id: rate
title: Rate
description: A rate.
route: POST /v1/rate
price: "0.002"
proxy: { mcp: bank, tool: rate }
input: { type: object, properties: { to: { type: string }, day: { type: string, default: today } }, required: [to] }
output: { type: object }
tags: [money]
examples: [{ input: { to: EUR } }]
`;

describe("payphone serve --check, of an MCP server over HTTP", () => {
  let site: ToolSite;
  let dir: string;
  before(async () => {
    site = await openToolSite("sessions");
    const key = "key: { variable: BANK_KEY, header: authorization, scheme: Bearer }";
    dir = await makeDirectory({
      "manifests/_site.yaml": siteOf(`{ id: bank, title: Bank, url: "${site.url}", mcp: http, ${key} }`),
      "manifests/rate.yaml": RATE,
    });
  });
  after(() => site.close());

  async function check(env: Readonly<Record<string, string>> = { BANK_KEY: "b-3f9a62c1d7" }): Promise<LiveFinding> {
    const [finding] = await Promise.all(probeTools(readConfig(env), await loadSet(dir)));
    return finding ?? expect.fail("nothing was probed");
  }

  it("finds the tools that are sold, and calls none of them", async () => {
    site.offer({
      ...TOOL,
      inputSchema: { type: "object", properties: { day: { type: "string" } }, required: ["day"] },
    });
    expect(await check()).to.include({ state: "ok", found: "lists the tools that are sold: 1" });
    expect(site.calls()).to.equal(0);
    expect(site.asked.every(({ headers }) => headers.authorization === "Bearer b-3f9a62c1d7")).to.equal(true);
  });

  for (const [what, tool, found] of [
    ["is gone", { ...TOOL, name: "quote" }, "rate: it no longer lists rate"],
    [
      "asks for more",
      { ...TOOL, inputSchema: { type: "object", properties: { unit: { type: "string" } }, required: ["unit"] } },
      "rate: rate takes other input: unit: Field required",
    ],
  ] as readonly (readonly [string, SiteTool, string])[])
    it(`warns of a tool that ${what}`, async () => {
      site.offer(tool);
      expect(await check()).to.include({ state: "warning", found: `${found}; import what has changed anew` });
    });

  it("fails after ten seconds, however the server puts it off", async () => {
    const { timeout } = AbortSignal;
    const late = new AbortController();
    Object.assign(AbortSignal, { timeout: () => late.signal });
    const probed = probe("source", () => new Promise(() => {}));
    Object.assign(AbortSignal, { timeout });
    late.abort();
    expect(await probed).to.deep.equal({ what: "source", state: "failed", found: "no answer within 10 seconds" });
  });

  it("fails where the variable of its address is not set, and says which", async () => {
    const dir = await makeDirectory({
      "manifests/_site.yaml": siteOf("{ id: bank, title: Bank, variable: BANK_URL, mcp: http }"),
      "manifests/rate.yaml": RATE,
    });
    const [finding] = await Promise.all(probeTools(readConfig({}), await loadSet(dir)));
    expect(finding).to.include({ state: "failed", found: "Bank needs BANK_URL, which is not set" });
  });

  it("fails where the credential is refused, and says which variable holds it, or is to hold it", async () => {
    site.intercept((response) => response.writeHead(401, { "www-authenticate": "Bearer" }).end());
    const refused = "it refuses the credential (status 401)";
    expect(await check()).to.include({ state: "failed", found: `${refused}: look at BANK_KEY` });
    expect(await check({})).to.include({ state: "failed", found: `${refused}: set BANK_KEY` });
    site.intercept(undefined);
  });
});
