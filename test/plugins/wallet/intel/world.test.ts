import { expect } from "chai";
import wallet from "../../../../plugins/wallet/index.ts";
import { createIntel } from "../../../../plugins/wallet/intel/bundle.ts";
import { createEns } from "../../../../plugins/wallet/names/ens/ens.ts";
import { createSol } from "../../../../plugins/wallet/names/sol/sol.ts";
import { createWorldClock } from "../../../support/world/clock.ts";
import { openGoPlus } from "../../../support/world/goplus.ts";
import { askForPause } from "../../../support/world/manners.ts";
import { openRecordedNode } from "../../../support/world/recorded.ts";
import { toSolanaKey, toTokenData } from "../../../support/world/solana-node.ts";
import type { WorldSource } from "../../../support/world/source.ts";
import { createHost, problemOf, type Reach, type Serve, serve, type TestHost } from "../../host.ts";
import { FAULTS } from "../faults.ts";
import { BONFIDA, type Bundle, DEAD, NODES, SOURCES, VITALIK } from "./sources.ts";

const CHAINS = ["base", "ethereum", "solana"] as const;

/** Of Base's first block. */
const GENESIS_SECOND = 1_686_789_347;

describe("wallet intelligence from sources as they are in the world", () => {
  const clock = createWorldClock();
  const nodes = new Map<string, WorldSource>();
  let ask: Serve;
  // Loading them can take a busy machine longer than a source is waited for.
  before(() => Promise.all([import("undici"), import("viem/ens"), import("viem/actions"), import("@solana/web3.js")]));
  beforeEach(async () => {
    for (const chain of CHAINS) {
      const names = chain === "base" ? [] : [`plugins/wallet/recordings/${chain}/names.json`];
      nodes.set(
        chain,
        await openRecordedNode({ clock, files: [`plugins/wallet/recordings/${chain}/wallet.json`, ...names] }),
      );
    }
    nodes.set("goplus", await openGoPlus({ clock }));
    ask = await start();
  });
  afterEach(() => Promise.all([...nodes.values()].map((node) => node.close())));
  const nodeOf = (id: string): WorldSource => nodes.get(id) as WorldSource;
  const gather = async (address: string): Promise<Bundle> => (await ask({ wallet: address })) as Bundle;

  const start = (reach: Reach = {}): Promise<Serve> => serve("intel_wallet", wallet, open(reach));

  function open(reach: Reach = {}): TestHost {
    const urls = { ...Object.fromEntries([...nodes].map(([id, { url }]) => [id, url])), ofac: DEAD };
    return createHost({ clock }, { urls, pause: clock.pause, ...reach });
  }

  /** Base's newest block is so old. */
  function fallBehind(minutes: number): void {
    const number = Math.floor((clock.now() / 1000 - minutes * 60 - GENESIS_SECOND) / 2);
    const [block, at] = [number, GENESIS_SECOND + 2 * number].map((value) => `0x${value.toString(16)}`);
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, result: { number: block, timestamp: at } });
    nodeOf("base").behave({ fault: ({ name }) => (name === "eth_getBlockByNumber" ? body : undefined) });
  }

  const sourcesOf = (chain: string): string[] => SOURCES.filter((source) => NODES[source] === chain);

  for (const chain of ["base", "ethereum"])
    for (const [what, line] of Object.entries(FAULTS))
      it(`names what ${chain} knows as missing when its node gives ${what}`, async () => {
        ask = await start({ timeoutMs: (id) => (id === chain ? 200 : 60_000), retries: 0 });
        nodeOf(chain).behave({ fault: () => line });
        const { errors, balances, activity, identity } = await gather(VITALIK);
        expect(errors.map(({ source }) => source)).to.have.members(sourcesOf(chain));
        const values: Record<string, unknown> = { ...balances, ...activity, ...identity };
        for (const source of sourcesOf(chain)) expect(values[source] ?? null, source).to.equal(null);
        expect(activity.has_history).to.equal(true); // The other chain shows one.
      });

  for (const [what, line] of Object.entries(FAULTS))
    it(`fails when the only node gives ${what}`, async () => {
      ask = await start({ timeoutMs: 200, retries: 0 });
      nodeOf("solana").behave({ fault: () => line });
      expect((await problemOf(gather(BONFIDA))).code).to.equal("upstream-failed");
    });

  for (const [minutes, isRefused] of [
    [4, false],
    [60, true],
  ] as const)
    it(`${isRefused ? "does not sell" : "sells"} what a Base node says that is ${minutes} minutes behind`, async () => {
      fallBehind(minutes);
      const { errors, balances } = await gather(VITALIK);
      expect(errors.map(({ source }) => source)).to.have.members(isRefused ? sourcesOf("base") : []);
      for (const { message } of errors) expect(message).to.match(/^Base node is behind: its newest block is of 20/);
      expect(balances.base_usdc === null).to.equal(isRefused);
      expect(nodeOf("base").asked.filter(({ name }) => name === "eth_getBlockByNumber")).to.have.length(1);
    });

  for (const [minutes, isRefused] of [
    [4, false],
    [60, true],
  ] as const)
    it(`${isRefused ? "does not sell" : "sells"} what a Solana node says that is ${minutes} minutes behind`, async () => {
      const at = Math.floor(clock.now() / 1000) - minutes * 60;
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, result: at });
      nodeOf("solana").behave({ fault: ({ name }) => (name === "getBlockTime" ? body : undefined) });
      const { errors, balances } = await gather(BONFIDA);
      const missing = isRefused ? ["sol", "solana_usdc"] : [];
      expect(errors.map(({ source }) => source)).to.have.members(missing);
      for (const { message } of errors) expect(message).to.match(/^Solana node is behind: its newest block is of 20/);
      expect([balances.sol, balances.solana_usdc].includes(null)).to.equal(isRefused);
    });

  it("does not count accounts of another token or another wallet than it has asked for as its USDC", async () => {
    const other = toSolanaKey("other");
    for (const data of [toTokenData(BONFIDA, other), toTokenData(other)]) {
      const value = [{ pubkey: other, account: { data: [data.fill(9, 64, 72).toString("base64"), "base64"] } }];
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, result: { context: { slot: 1 }, value } });
      nodeOf("solana").behave({ fault: ({ name }) => (name === "getTokenAccountsByOwner" ? body : undefined) });
      const { balances, errors } = await gather(BONFIDA);
      expect(balances.solana_usdc).to.equal(null);
      expect(errors.map(({ source }) => source)).to.deep.equal(["solana_usdc"]);
    }
  });

  it("counts an account once that the node lists twice", async () => {
    const account = { data: [toTokenData(BONFIDA).fill(0, 64, 72).fill(1, 64, 65).toString("base64"), "base64"] };
    const value = ["one", "two", "one"].map((name) => ({ pubkey: toSolanaKey(name), account }));
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, result: { context: { slot: 1 }, value } });
    nodeOf("solana").behave({ fault: ({ name }) => (name === "getTokenAccountsByOwner" ? body : undefined) });
    expect((await gather(BONFIDA)).balances.solana_usdc).to.equal("0.000002");
  });

  it("does not sell what an investigation has just read from a Base node that is behind", async () => {
    fallBehind(60);
    const host = open();
    const registries = { ENS: createEns(host), SNS: createSol(host) };
    const investigated = await createIntel(host, { registries, takesLag: true })(VITALIK, new AbortController().signal);
    expect(investigated.balances.base_usdc).to.be.a("string");
    ask = await serve("intel_wallet", wallet, host);
    const { errors, balances } = await gather(VITALIK);
    expect(errors.map(({ source }) => source)).to.have.members(sourcesOf("base"));
    expect(balances.base_usdc).to.equal(null);
  });

  it("is whole when every node allows four calls a second of each method", async () => {
    const limit = { perSecond: 4, burst: 4 };
    const methods = ["eth_call", "eth_getBalance", "eth_getTransactionCount", "getMultipleAccounts", "getBalance"];
    for (const chain of CHAINS)
      nodeOf(chain).behave({
        rates: Object.fromEntries(methods.map((method) => [method, limit])),
        refusal: askForPause(1),
      });
    for (const address of [VITALIK, BONFIDA]) expect((await gather(address)).errors, address).to.deep.equal([]);
  });

  it("says that the screening is provisional while GoPlus gives parts, and no more when it is whole", async () => {
    nodeOf("goplus").behave({
      fault: ({ times }) => (times < 1 ? JSON.stringify({ code: 2, result: {} }) : undefined),
    });
    expect((await gather(VITALIK)).sanctions.partial).to.equal(true);
    expect((await gather(VITALIK)).sanctions.partial).to.equal(false);
  });
});
