import { expect } from "chai";
import type { Hex } from "../../../runtime/api/capabilities.ts";
import type { Problem } from "../../../runtime/api/problem.ts";
import { startEvmChain } from "../../../runtime/sandbox/evm/chain.ts";
import { placeToken } from "../../../runtime/sandbox/evm/tokens.ts";
import { rail } from "../../support/chains/chains.ts";
import { isAlive } from "../sandbox-process.ts";

describe("the sandbox's EVM chain", () => {
  it("is the chain that was asked for, and gone when it is stopped", async () => {
    const chain = await startEvmChain({ chainId: 137 });
    expect(await chain.rpc("eth_chainId", [])).to.equal("0x89");
    expect(isAlive(chain.pid)).to.equal(true);
    await chain.stop();
    expect(isAlive(chain.pid)).to.equal(false);
    await chain.stop();
  });

  it("tells the node's errors as upstream-failed", async () => {
    const chain = await startEvmChain({ chainId: 1 });
    const problem = (await chain.rpc("eth_nothing", []).catch((error: unknown) => error)) as Problem;
    expect(problem).to.include({ code: "upstream-failed" });
    expect(problem.message).to.match(/^eth_nothing: /);
    await chain.stop();
  });

  it("has its token at once, also when blocks come by the clock alone", async () => {
    const chain = await startEvmChain({ chainId: 8453, args: ["--block-time", "3600"] });
    const { asset: address, symbol, decimals } = rail("base");
    const token = await placeToken(chain, { address, symbol, decimals, name: "USD Coin", version: "2" });
    await token.mint(address, 5n);
    expect(await token.balanceOf(address)).to.equal(5n);
    await chain.stop();
  });

  it("keeps receipts longer than states", async () => {
    const chain = await startEvmChain({ chainId: 8453 });
    const [from] = (await chain.rpc("eth_accounts", [])) as [Hex];
    const hash = await chain.rpc("eth_sendTransaction", [{ from, to: from }]);
    await chain.rpc("anvil_mine", ["0x200"]);
    expect(await chain.rpc("eth_getTransactionReceipt", [hash])).to.include({ status: "0x1" });
    await chain.stop();
  });

  it("says how to get anvil when there is none", async () => {
    const bin = "/nowhere/anvil";
    const problem = (await startEvmChain({ chainId: 1, bin }).catch((error: unknown) => error)) as Problem;
    expect(problem).to.include({ code: "unavailable" });
    expect(problem.message).to.include("/nowhere/anvil").and.to.include("--omit=optional").and.to.include("ANVIL_BIN");
  });

  it("says what anvil said when it does not start", async () => {
    const args = ["--block-time", "never"];
    const problem = (await startEvmChain({ chainId: 1, args }).catch((error: unknown) => error)) as Problem;
    expect(problem).to.include({ code: "unavailable" });
    expect(problem.message)
      .to.match(/invalid value 'never'/)
      .and.not.include("npm install");
  });
});
