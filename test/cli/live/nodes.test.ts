import { expect } from "chai";
import type { LiveFinding } from "../../../runtime/cli/live/probe.ts";
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
});
