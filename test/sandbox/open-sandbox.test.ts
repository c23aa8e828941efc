import { once } from "node:events";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { base58 } from "@scure/base";
import { expect } from "chai";
import { privateKeyToAddress } from "viem/accounts";
import type { Problem } from "../../runtime/api/problem.ts";
import { readConfig } from "../../runtime/cli/config/config.ts";
import { missingForServe } from "../../runtime/cli/config/serve.ts";
import { silentLog } from "../../runtime/core/silent-log.ts";
import { openSandbox } from "../../runtime/sandbox/open-sandbox.ts";
import { openTestSandbox, rail, sharedSandbox, site, type TestSandbox } from "../support/chains/chains.ts";
import { eventually } from "../support/eventually.ts";
import { createFolder } from "../support/folder.ts";
import { askRpc } from "../support/sellers/stock-buyer.ts";
import { isAlive, startSandboxProcess, untilGone } from "./sandbox-process.ts";

describe("the sandbox", () => {
  let sandbox: TestSandbox;
  let dataDir: string;
  before(async () => {
    sandbox = await sharedSandbox();
  });
  beforeEach(() => {
    dataDir = createFolder();
  });

  it("gives everything that a live server asks its operator for, except its own address", () => {
    const config = readConfig(sandbox.env);
    expect(
      missingForServe(config, { site, manifests: [], capabilities: new Set(["anchor", "treasury"]) }),
    ).to.have.lengthOf(1);
    expect(
      missingForServe(readConfig({ ...sandbox.env, PUBLIC_BASE_URL: "http://127.0.0.1" }), {
        site,
        manifests: [],
        capabilities: new Set(["anchor", "treasury"]),
      }),
    ).to.be.empty;
  });

  it("describes a buyer whose keys fit his addresses, and who can pay on every rail", async () => {
    const { buyer, mode, tokens } = sandbox.description;
    expect(mode).to.equal("sandbox");
    expect(tokens).to.deep.equal(Object.fromEntries(site.rails.map(({ id, asset }) => [id, asset])));
    expect(privateKeyToAddress(buyer.evm.private_key)).to.equal(buyer.evm.address);
    const secret = base58.decode(buyer.solana.secret_key);
    expect(secret).to.have.lengthOf(64);
    expect(base58.encode(secret.subarray(32))).to.equal(buyer.solana.address);
    expect(Number(await sandbox.usdc.balanceOf(buyer.evm.address))).to.be.above(1e9);
    expect(Number(await sandbox.jpyc.balanceOf(buyer.evm.address))).to.be.above(1e21);
    expect(Number(sandbox.solana.tokenBalance(buyer.solana.address))).to.be.above(1e9);
  });

  it("gives the treasury gas on every chain, and a token account to be paid into", async () => {
    const { BASE_PAYMENT_ADDRESS, SOLANA_PAYMENT_ADDRESS } = sandbox.env;
    for (const chain of [sandbox.base, sandbox.polygon]) {
      const wei = (await chain.rpc("eth_getBalance", [BASE_PAYMENT_ADDRESS, "latest"])) as string;
      expect(Number(wei)).to.be.above(1e18);
    }
    const ask = (method: string, params: unknown[]) => askRpc(sandbox.solana.url, method, params);
    expect((await ask("getBalance", [SOLANA_PAYMENT_ADDRESS])).value).to.be.above(1e9);
    const mint = { mint: sandbox.description.tokens.solana };
    expect((await ask("getTokenAccountsByOwner", [SOLANA_PAYMENT_ADDRESS, mint])).value).to.have.lengthOf(1);
  });

  it("follows the site's rails, whichever they are", async () => {
    const avalanche = { ...rail("base"), id: "avalanche", network: "eip155:43114", pay_to: "AVAX_TO", rpc: "AVAX_RPC" };
    const own = await openSandbox({ rails: [avalanche], dataDir, log: silentLog });
    const { chainId, url } = own.chains.evm.get("eip155:43114")!;
    expect(chainId).to.equal(43114);
    expect(own.chains.solana.size).to.equal(0);
    expect(own.description).to.deep.include({ rpc: { avalanche: url }, tokens: { avalanche: avalanche.asset } });
    expect(own.env).to.have.all.keys(
      "AVAX_TO",
      "AVAX_RPC",
      "FACILITATOR_URL",
      "TREASURY_EVM_KEY",
      "TREASURY_SOLANA_KEY",
    );
    const answer = await fetch(`${own.description.facilitator}/supported`);
    const { kinds } = (await answer.json()) as { kinds: { network: string }[] };
    expect(kinds.map(({ network }) => network)).to.deep.equal(["eip155:43114", "avalanche"]);
    await own.stop();
  });

  it("keeps its chains' time with the real one while nobody transacts", async () => {
    const blockTime = async (): Promise<number> => {
      const block = (await sandbox.base.rpc("eth_getBlockByNumber", ["latest", false])) as { timestamp: string };
      return Number(block.timestamp);
    };
    const start = await blockTime();
    await eventually(async () => (await blockTime()) !== start);
    expect(await blockTime()).to.be.closeTo(Date.now() / 1000, 60);
  });

  it("leaves nothing running when it is stopped, and has the same addresses after a restart, on new chains", async () => {
    const first = await openTestSandbox(dataDir);
    await first.usdc.mint(first.env.BASE_PAYMENT_ADDRESS!, 1n);
    await first.stop();
    expect([first.base, first.polygon].map(({ pid }) => isAlive(pid))).to.deep.equal([false, false]);
    for (const url of [first.solana.url, first.description.facilitator, first.base.url])
      expect(await fetch(url).catch((error: Error) => error.message)).to.equal("fetch failed");
    const second = await openTestSandbox(dataDir);
    expect(second.description.buyer).to.deep.equal(first.description.buyer);
    expect(second.env.TREASURY_EVM_KEY).to.equal(first.env.TREASURY_EVM_KEY);
    expect(second.env.TREASURY_SOLANA_KEY).to.equal(first.env.TREASURY_SOLANA_KEY);
    expect(await second.usdc.balanceOf(second.env.BASE_PAYMENT_ADDRESS!)).to.equal(0n);
    await second.stop();
    expect(statSync(join(dataDir, "sandbox.json")).mode & 0o777, "it keeps the keys to itself").to.equal(0o600);
  });

  it("says which file to delete when its keys are spoilt, and leaves the file alone", async () => {
    const path = join(dataDir, "sandbox.json");
    for (const content of ["{", '{"buyer":{"evm":"0x1","solana":"x"}}']) {
      writeFileSync(path, content);
      const problem = (await openTestSandbox(dataDir).catch((error: unknown) => error)) as Problem;
      expect(problem).to.include({ code: "unavailable" });
      expect(problem.message).to.include(path);
      expect(readFileSync(path, "utf8")).to.equal(content);
    }
  });

  it("asks for another directory when its keys cannot be kept in this one", async () => {
    const file = join(dataDir, "file");
    writeFileSync(file, "");
    for (const impossible of [file, "/dev/null/payphone"]) {
      const problem = (await openTestSandbox(impossible).catch((error: unknown) => error)) as Problem;
      expect(problem).to.include({ code: "unavailable" });
      expect(problem.message).to.include(`in ${join(impossible, "sandbox.json")} (ENOTDIR`);
      expect(problem.message).to.include("PAYPHONE_DATA_DIR").and.not.include("delete");
    }
  });

  it("leaves nothing running when its process is killed", async () => {
    const { child, report } = await startSandboxProcess(dataDir);
    expect(report.pids?.map(isAlive)).to.deep.equal([true, true]);
    child.kill("SIGKILL");
    await once(child, "exit");
    for (const pid of report.pids ?? []) await untilGone(pid);
  });

  it("says what is missing in a production install, and leaves nothing running", async () => {
    const { child, report } = await startSandboxProcess(dataDir, ["--import", WITHOUT_LITESVM]);
    expect(report.failed?.code).to.equal("unavailable");
    expect(report.failed?.message).to.include("litesvm").and.to.include("--omit=optional");
    const [code] = await once(child, "exit");
    expect(code).to.equal(0);
  });
});

/** Makes Node fail as if the package were not installed. */
const WITHOUT_LITESVM = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from "node:module";
  registerHooks({ resolve(specifier, context, next) {
    if (specifier === "litesvm") throw Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" });
    return next(specifier, context);
  } });
`)}`;
