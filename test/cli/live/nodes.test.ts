import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { parse, stringify } from "yaml";
import type { LiveFinding } from "../../../runtime/cli/live/probe.ts";
import type { SiteManifest } from "../../../runtime/core/set/manifest.ts";
import { listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";
import { sharedSandbox } from "../../support/chains/chains.ts";
import { startRpcProxy } from "../../support/chains/rpc-proxy.ts";
import { runPayphone } from "../../support/commands/commands.ts";
import { createFolder } from "../../support/folder.ts";
import { makeProjectShop } from "../../support/sellers/project-shop.ts";

describe("serve --check of a shop that reads a node on which it is not paid", () => {
  it("says whether that is of its chain, and of what time its newest block is", async () => {
    const { env } = await sharedSandbox();
    const dir = await makeProjectShop({ services: ["decode_tx"], rails: ["base"] });
    const node = await startRpcProxy(env.BASE_RPC_URL as string);
    const find = async (): Promise<LiveFinding | undefined> => {
      const settings = { ...env, ETHEREUM_RPC_URL: node.url, PUBLIC_BASE_URL: "http://127.0.0.1:9", PORT: "0" };
      const args = ["serve", "--check", "--json", "--dir", dir];
      const { out } = await runPayphone(args, { ...settings, PAYPHONE_DATA_DIR: createFolder() });
      return (JSON.parse(out) as LiveFinding[]).find(({ what }) => what === "source: Ethereum node");
    };
    const other = await find();
    expect(other?.state).to.equal("failed");
    expect(other?.found).to.match(/leads to chain 8453 instead of 1$/);
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, result: "0x1" });
    node.intervene((method) => (method === "eth_chainId" ? { status: 200, body } : "pass"));
    expect((await find())?.found).to.match(/^chain 1, block \d+, \d+ s /);
    await node.stop();
  });

  it("sends a node the credential that it wants: its chain cannot be known otherwise", async () => {
    const { env } = await sharedSandbox();
    const behind = env.BASE_RPC_URL as string;
    const guarded = createServer(async (request, response) => {
      if (request.headers["x-key"] !== "s3cret" || request.url !== "/?plan=own") return response.writeHead(401).end();
      const answer = await fetch(behind, { method: "POST", headers: JSON_BODY, body: await text(request) });
      response.writeHead(200, JSON_BODY).end(await answer.text());
    });
    const url = await listenOnLoopback(guarded);
    const dir = await makeProjectShop({ services: ["decode_tx"], rails: ["base"] });
    const path = join(dir, "manifests/_site.yaml");
    const site = parse(readFileSync(path, "utf8")) as SiteManifest;
    const keys = [
      { variable: "NODE_KEY", header: "x-key" },
      { variable: "NODE_PLAN", query: "plan" },
    ];
    const upstreams = site.upstreams?.map((one) => (one.id === "ethereum" ? { ...one, keys } : one));
    writeFileSync(path, stringify({ ...site, upstreams }));
    const find = async (NODE_KEY: string): Promise<LiveFinding | undefined> => {
      const settings = { ...env, ETHEREUM_RPC_URL: url, PUBLIC_BASE_URL: "http://127.0.0.1:9", PORT: "0" };
      const own = { PAYPHONE_DATA_DIR: createFolder(), NODE_KEY, NODE_PLAN: "own" };
      const { out } = await runPayphone(["serve", "--check", "--json", "--dir", dir], { ...settings, ...own });
      return (JSON.parse(out) as LiveFinding[]).find(({ what }) => what === "source: Ethereum node");
    };
    expect((await find("s3cret"))?.found).to.match(/leads to chain 8453 instead of 1$/);
    const refused = await find("other");
    guarded.close();
    expect(refused).to.deep.include({ state: "failed" });
    expect(refused?.found).to.match(/the answer has status 401/);
  });

  it("looks at a node at the address of a rail's, too, where it is to be of another chain", async () => {
    const { env } = await sharedSandbox();
    const dir = await makeProjectShop({ services: ["decode_tx"], rails: ["base"] });
    const path = join(dir, "manifests/_site.yaml");
    writeFileSync(path, readFileSync(path, "utf8").replace("variable: ETHEREUM_RPC_URL", "variable: BASE_RPC_URL"));
    const settings = { ...env, PUBLIC_BASE_URL: "http://127.0.0.1:9", PORT: "0", PAYPHONE_DATA_DIR: createFolder() };
    const { out } = await runPayphone(["serve", "--check", "--json", "--dir", dir], settings);
    const sources = (JSON.parse(out) as LiveFinding[]).filter(({ what }) => / (?:Base|Ethereum) node$/.test(what));
    expect(sources.map(({ what, state }) => [what, state])).to.deep.equal([["source: Ethereum node", "failed"]]);
  });
});

const JSON_BODY = { "content-type": "application/json" };
