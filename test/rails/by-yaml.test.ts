import { expect } from "chai";
import type { Hex } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { parse } from "yaml";
import { checkDir } from "../../runtime/cli/set/check.ts";
import { loadSet } from "../../runtime/cli/set/load.ts";
import type { RailManifest } from "../../runtime/core/set/manifest.ts";
import { makeDirectory, ROOT } from "../core/set/served-directory.ts";
import { startLocalSandbox, startLocalSeller } from "../support/sellers/local-seller.ts";
import type { SandboxServer } from "../support/sellers/sandbox-server.ts";
import { askRpc, json, receiptOf } from "../support/sellers/stock-buyer.ts";
import { BLOCKS, balanceOf, stockFetchOf, toShop } from "./shop.ts";

/** The new tokens, and what a call of 0.01 dollars costs there: euros come from a tier. */
const TOKENS = { eurc: 9000n, "usdc-polygon": 10_000n, "usdc-arbitrum": 10_000n, "usdt0-arbitrum": 10_000n };
const blocks = Object.keys(TOKENS).map((name) => BLOCKS.get(name) ?? "");
const rails = Object.entries(TOKENS).map(([name, amount]) => {
  const [rail] = parse(BLOCKS.get(name) ?? "") as RailManifest[];
  return { name, amount, rail: rail as RailManifest };
});

describe("a token that is added by YAML alone", () => {
  let sandbox: SandboxServer;
  let dir: string;

  before(async () => {
    dir = await makeDirectory(toShop(blocks, [BLOCKS.get("currencies") ?? ""]));
    sandbox = await startLocalSandbox(dir);
  });
  after(() => sandbox?.stop());

  it("takes at most 12 lines", () => {
    const lines = (block: string | undefined): number => (block ?? "").trimEnd().split("\n").length;
    for (const block of blocks) expect(lines(block), block).to.be.within(9, 12);
    expect(lines(BLOCKS.get("eurc")) + lines(BLOCKS.get("currencies")), "with its currency").to.be.at.most(12);
  });

  it("is described as this shop's own one in yen", async () => {
    const [jpyc] = parse(BLOCKS.get("jpyc") ?? "") as RailManifest[];
    const { site } = await loadSet(ROOT);
    const { explorer_address, smart_wallets, ...own } = site.rails.find(({ id }) => id === "polygon") as RailManifest;
    expect(jpyc).to.deep.equal(own);
  });

  it("has no fault, but for one without EIP-712 domain or tiers", async () => {
    expect(await checkDir(dir)).to.deep.equal([]);
    const codes = (await checkDir(await makeDirectory(toShop(blocks)))).map(({ code }) => code);
    expect(codes).to.deep.equal(["unknown-currency"]);
  });

  for (const { name, amount, rail } of rails) {
    it(`is bought with in the sandbox by the stock client (${name})`, async () => {
      const { buyer, rpc } = sandbox.description;
      const held = (): Promise<bigint> => balanceOf(rpc[rail.id] ?? "", rail.asset, buyer.evm.address);
      const before = await held();
      const pay = await stockFetchOf(sandbox.description, rail.asset);
      const response = await pay(`${sandbox.url}/v1/toss`, json({ coins: 3 }));
      expect(response.status, await response.clone().text()).to.equal(200);
      expect(receiptOf(response)).to.include({ success: true, network: rail.network });
      expect(before - (await held())).to.equal(amount);
    });
  }

  it("is bought with, each for its own price, and none for another's", async () => {
    const { description } = sandbox;
    const { rpc, facilitator } = description;
    const treasury = generatePrivateKey();
    const receiver = privateKeyToAddress(generatePrivateKey());
    await askRpc(rpc.usdt0 ?? "", "anvil_setBalance", [privateKeyToAddress(treasury as Hex), "0xde0b6b3a7640000"]);
    const names = ["BASE", "POLYGON", "ARBITRUM"];
    const nodes = { BASE_RPC_URL: rpc.base, POLYGON_RPC_URL: rpc["polygon-usdc"], ARBITRUM_RPC_URL: rpc.arbitrum };
    const env = {
      ...nodes,
      ...Object.fromEntries(names.map((name) => [`${name}_PAYMENT_ADDRESS`, receiver])),
      FACILITATOR_URL: facilitator,
      TREASURY_EVM_KEY: treasury,
    } as Record<string, string>;
    const seller = await startLocalSeller({ sandbox: { env, description }, set: await loadSet(dir) });
    try {
      for (const { amount, rail } of rails) {
        const pay = await stockFetchOf(description, rail.asset);
        const response = await pay(`${seller.url}/v1/toss`, json({ coins: 1 }));
        expect(response.status, `${rail.title}: ${await response.clone().text()}`).to.equal(200);
        expect(await balanceOf(rpc[rail.id] ?? "", rail.asset, receiver), rail.title).to.equal(amount);
      }
    } finally {
      await seller.stop();
    }
  });

  it("is named by every document, and only the first of a network by the challenge of version 1", async () => {
    const read = async (path: string): Promise<string> => (await fetch(sandbox.url + path)).text();
    const legacy = await fetch(`${sandbox.url}/v1/toss?x402Version=1`, json({}));
    const { accepts } = (await legacy.json()) as { accepts: { asset: string }[] };
    expect(accepts).to.have.length(3);
    const catalogue = await read("/");
    const discovery = await read("/.well-known/x402");
    for (const { rail } of rails) {
      expect(catalogue).to.include(rail.asset);
      expect(discovery).to.include(rail.asset);
    }
    expect(JSON.parse(discovery)).to.have.nested.property("fixed_pricing.eur.tiers[0].amount", "0.009");
  });
});
