import { readdirSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect } from "chai";
import type { LiveFinding } from "../../../runtime/cli/live/probe.ts";
import { loadSet } from "../../../runtime/cli/set/load.ts";
import { openStore } from "../../../runtime/drivers/store/open-store.ts";
import { listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";
import { makeDirectory } from "../../core/set/served-directory.ts";
import { sharedSandbox } from "../../support/chains/chains.ts";
import { startRpcProxy } from "../../support/chains/rpc-proxy.ts";
import { runPayphone } from "../../support/commands/commands.ts";
import { createFolder } from "../../support/folder.ts";
import { findFreePort } from "../../support/free-port.ts";
import { startLocalSeller } from "../../support/sellers/local-seller.ts";
import { makeProjectShop } from "../../support/sellers/project-shop.ts";
import { siteOf } from "../../support/sellers/site-of.ts";

describe("payphone serve --check", () => {
  const data = createFolder();
  let port: number;
  let dir: string;
  before(async () => {
    port = await findFreePort();
    dir = await makeProjectShop({ services: ["roll"], rails: ["base", "solana", "polygon"] });
  });

  /** What it finds, by what it has looked at. */
  async function check(
    changes: Readonly<Record<string, string>> = {},
    flags: readonly string[] = ["--json"],
    folder = dir,
  ): Promise<{ code: number; said: string; states: Record<string, string>; found: Record<string, string> }> {
    const { env } = await sharedSandbox();
    const settings = {
      ETHEREUM_RPC_URL: env.BASE_RPC_URL,
      ...env,
      PORT: String(port),
      PAYPHONE_DATA_DIR: data,
      PUBLIC_BASE_URL: `http://127.0.0.1:${port}`,
      ...changes,
    };
    const { code, out, err } = await runPayphone(["serve", "--dir", folder, "--check", ...flags], settings);
    const said = out + err;
    const findings = said.startsWith("[") ? (JSON.parse(said) as LiveFinding[]) : [];
    const by = (field: "state" | "found") => Object.fromEntries(findings.map((one) => [one.what, one[field]]));
    return { code, said, states: by("state"), found: by("found") };
  }

  it("finds nodes, tokens, facilitators, treasury and the public address as they should be", async () => {
    const { states, found, said } = await check();
    const rails = ["USDC on Base", "USDC on Solana", "JPYC on Polygon"];
    for (const rail of rails)
      expect(states, said).to.include({ [`${rail}: node`]: "ok", [`${rail}: facilitator`]: "ok" });
    for (const what of ["USDC on Base: token", "JPYC on Polygon: token", "public address", "state"])
      expect(states, said).to.include({ [what]: "ok" });
    expect(states["JPYC on Polygon: treasury"], said).to.be.oneOf(["ok", "warning"]);
    expect(found["public address"]).to.match(/leads to this process$/);
  });

  it("leaves no store where none was: payphone sales would say that nothing was sold, beside a sandbox that sells", async () => {
    const fresh = createFolder();
    const { found, said } = await check({ PAYPHONE_DATA_DIR: fresh });
    expect(found.state, said).to.equal("can be read and written");
    expect(readdirSync(fresh)).to.deep.equal([]);
  });

  it("leaves no data directory where none was: it would be root's, where root looks before the server's user starts", async () => {
    const fresh = createFolder();
    const { found, said } = await check({ PAYPHONE_DATA_DIR: join(fresh, "payphone") });
    expect(found.state, said).to.equal("can be read and written");
    expect(readdirSync(fresh)).to.deep.equal([]);
  });

  it("leaves a store that is there as it is", async () => {
    const dataDir = createFolder();
    const before = await openStore({ dataDir });
    await before.putIfAbsent("sold", "roll");
    await before.close();
    const { found, said } = await check({ PAYPHONE_DATA_DIR: dataDir });
    expect(found.state, said).to.equal("can be read and written");
    const after = await openStore({ dataDir });
    expect(await after.get("sold")).to.equal("roll");
    await after.close();
  });

  it("asks whether the language model answers where a service uses it, and only there", async () => {
    let asked = 0;
    const model = createServer((_, response) => {
      asked += 1;
      response.writeHead(asked === 1 ? 404 : 503).end();
    });
    const env = { LLM_BASE_URL: `${await listenOnLoopback(model)}/v1`, LLM_MODEL: "one" };
    expect((await check(env)).states).not.to.have.property("language model");
    expect(asked).to.equal(0);
    const writer = await makeProjectShop({ services: ["tldr"], rails: ["base"] });
    const { host } = new URL(env.LLM_BASE_URL);
    const { states, found, said } = await check(env, ["--json"], writer);
    expect(found["language model"], said).to.equal(`${host} answers`);
    expect(states["language model"]).to.equal("ok");
    expect((await check(env, ["--json"], writer)).states["language model"]).to.equal("warning");
    const closed = await check({ ...env, LLM_BASE_URL: "http://127.0.0.1:9/v1" }, ["--json"], writer);
    expect(closed.states["language model"]).to.equal("failed");
    model.close();
  });

  it("names what is wrong with each, and fails", async () => {
    const { env } = await sharedSandbox();
    const { code, states, found, said } = await check({
      BASE_RPC_URL: env.POLYGON_RPC_URL ?? "",
      SOLANA_RPC_URL: "http://127.0.0.1:9",
      FACILITATOR_URL: "http://127.0.0.1:9",
      TREASURY_EVM_KEY: `0x${"5e".repeat(32)}`,
    });
    expect(code, said).to.equal(1);
    expect(found["USDC on Base: node"]).to.match(/leads to chain 137 instead of 8453/);
    for (const what of ["USDC on Solana: node", "USDC on Base: facilitator", "JPYC on Polygon: treasury"])
      expect(states, said).to.include({ [what]: "failed" });
    expect(found["JPYC on Polygon: treasury"]).to.match(
      /^0x\w{40} has 0\S* of the chain's coin for fees: send it [\d.]+$/,
    );
  });

  it("fails where a facilitator takes payments, but not on the rail's network", async () => {
    const networks = ["eip155:8453", "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"]; // The second in version 1 only.
    const kinds = networks.map((network, at) => ({ x402Version: 2 - at, scheme: "exact", network }));
    const one = createServer((_, response) => response.end(JSON.stringify({ kinds, extensions: [], signers: {} })));
    const { states, found, said } = await check({ FACILITATOR_URL: await listenOnLoopback(one) });
    one.close();
    expect(states["USDC on Base: facilitator"], said).to.equal("ok");
    expect(states["USDC on Solana: facilitator"], said).to.equal("failed");
    expect(found["USDC on Solana: facilitator"]).to.match(/^does not take "exact" on solana:/);
  });

  it("tells in one line how a node that answers nothing has refused", async () => {
    const { env } = await sharedSandbox();
    const node = await startRpcProxy(env.BASE_RPC_URL as string);
    const found = async (answer: { status: number; body: string }): Promise<string | undefined> => {
      node.intervene(() => answer);
      return (await check({ BASE_RPC_URL: node.url })).found["USDC on Base: node"];
    };
    expect(await found({ status: 401, body: "no key" })).to.match(/could not be asked \(the answer has status 401\)$/);
    expect(await found({ status: 200, body: "<html>" })).to.match(
      /could not be asked \(.*"<html>" is not valid JSON\)$/,
    );
    const error = { code: -32601, message: "Method\u001b[2J not found" };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, error }); // As a node of Solana answers.
    expect(await found({ status: 200, body })).to.match(/^The method "eth_chainId" does not exist.+not found\)$/);
    expect((await check({ BASE_RPC_URL: node.url }, [])).said, "on a terminal").to.include("(Method [2J not found)");
    await node.stop();
  });

  it("notices a clock that is wrong by the newest block: payments are refused by it", async () => {
    const { env, base } = await sharedSandbox();
    const block = (await base.rpc("eth_getBlockByNumber", ["latest", false])) as object;
    const node = await startRpcProxy(env.BASE_RPC_URL as string);
    const found = async (hours: number): Promise<string> => {
      const timestamp = `0x${Math.floor(Date.now() / 1000 + hours * 3600).toString(16)}`;
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, result: { ...block, timestamp } });
      node.intervene((method) => (method === "eth_getBlockByNumber" ? { status: 200, body } : "pass"));
      const what = "USDC on Base: node";
      const checked = await check({ BASE_RPC_URL: node.url });
      return `${checked.states[what]}: ${checked.found[what]}`;
    };
    expect(await found(9)).to.match(/^warning: .+ 32\d\d\d s in the future: this machine's clock is slow$/);
    expect(await found(-9)).to.match(/^warning: .+ 324\d\d s old: .+, or this machine's clock is fast$/);
    await node.stop();
  });

  it("notices a public address that leads elsewhere, and one that leads to the shop that is open", async () => {
    const other = createServer((_, response) => response.end("hello"));
    const elsewhere = await listenOnLoopback(other);
    const { found } = await check({ PUBLIC_BASE_URL: elsewhere });
    expect(found["public address"]).to.match(/answers 200, but not from 127\.0\.0\.1:\d+: check the proxy/);
    other.close();
    const { url, stop } = await startLocalSeller({ sandbox: await sharedSandbox(), set: await loadSet(dir) });
    const open = await check({ PORT: new URL(url).port, PUBLIC_BASE_URL: url });
    expect(open.found["public address"]).to.match(/leads to a running server$/);
    await stop();
  });

  it("notices a proxy in front whose callers would all count as one", async () => {
    const proxy = createServer(async (_, response) => {
      const headers = { "x-forwarded-for": "192.0.2.7" };
      response.end(await (await fetch(`http://127.0.0.1:${port}/health`, { headers })).text());
    });
    const front = { PUBLIC_BASE_URL: await listenOnLoopback(proxy) };
    const { code, states, found, said } = await check(front);
    expect([code, states["public address"]], said).to.deep.equal([0, "warning"]);
    expect(found["public address"]).to.match(
      /leads to this process, through a proxy that TRUST_PROXY does not name: all buyers share the limits of its address$/,
    );
    expect((await check({ ...front, TRUST_PROXY: "1" })).states).to.include({ "public address": "ok" });
    proxy.close();
  });

  it("notices that the operator's pages are to have the port on which the shop sells", async () => {
    const what = "operator's pages";
    const [own, other, same] = [String(port), String(await findFreePort()), { ADMIN_PORT: String(port) }];
    const clash = await check(same);
    expect([clash.code, clash.states[what]], clash.said).to.deep.equal([1, "failed"]);
    expect(clash.found[what]).to.equal(`127.0.0.1:${own} is also where the shop sells: set ADMIN_PORT to another port`);
    expect((await check({ ...same, HOST: "0.0.0.0" })).states).to.include({ [what]: "failed" });
    expect((await check({ ...same, ADMIN_HOST: "127.0.0.2" })).states).to.include({ [what]: "ok" });
    expect((await check({ ADMIN_PORT: other })).found).to.include({ [what]: `127.0.0.1:${other}` });
  });

  it("names the credential that a proxied service lacks", async () => {
    const source = createServer((_, response) => response.writeHead(401).end());
    const { host } = new URL(await listenOnLoopback(source));
    const bank = await makeDirectory({
      "manifests/_site.yaml": siteOf(
        `{ id: bank, title: Bank, url: "http://${host}", key: { variable: BANK_KEY, header: x-key } }`,
      ),
      "manifests/rate.yaml": `id: rate
title: Rate
description: A rate.
route: POST /v1/rate
price: "0.002"
proxy: { upstream: bank, request: GET /rate }
input: { type: object }
output: { type: object }
tags: [money]
examples: [{ input: {} }]
`,
    });
    const { found, states } = await check({}, ["--json"], bank);
    expect(found["source: Bank"]).to.equal(`${host} answers; its credential is not set: BANK_KEY`);
    expect(states["source: Bank"]).to.equal("warning");
    const set = await check({ BANK_KEY: "secret" }, ["--json"], bank);
    expect(set.found["source: Bank"]).to.equal(`${host} answers`);
    source.close();
  });

  it("prints a table for people, and first of all what the configuration lacks", async () => {
    expect((await check({}, [])).said).to.match(/^(ok|!) +state +can be read/m);
    const { code, said } = await check({ PUBLIC_BASE_URL: "", PORT: "one" }, []);
    expect(code).to.equal(2);
    expect(said).to.include("PUBLIC_BASE_URL is not set").and.to.include("PORT");
  });

  it("prints a list for programs also where the configuration or the set is at fault", async () => {
    const lacking = await check({ PUBLIC_BASE_URL: "" });
    expect([lacking.code, lacking.states], lacking.said).to.deep.equal([2, { configuration: "failed" }]);
    expect(lacking.found.configuration).to.match(/^PUBLIC_BASE_URL is not set: /);
    const broken = await check({}, ["--json"], await makeDirectory({ "manifests/one.yaml": "id: [" }));
    expect([broken.code, broken.states.set], broken.said).to.deep.equal([2, "failed"]);
    expect(broken.found.set).to.match(/^manifests\/\S+:\d+:\d+ \S+ /);
  });
});
