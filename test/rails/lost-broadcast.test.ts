import { expect } from "chai";
import { loadSet } from "../../runtime/cli/set/load.ts";
import { type SandboxFacilitator, startFacilitator } from "../../runtime/sandbox/facilitator.ts";
import { expectUnknown } from "../attacks/support/settlements.ts";
import { makeDirectory } from "../core/set/served-directory.ts";
import { openTestSandbox, type TestSandbox } from "../support/chains/chains.ts";
import { type RpcProxy, startRpcProxy } from "../support/chains/rpc-proxy.ts";
import { eventually } from "../support/eventually.ts";
import { type LocalSeller, startLocalSeller } from "../support/sellers/local-seller.ts";
import { json, signFor, stockClient } from "../support/sellers/stock-buyer.ts";
import { toShop } from "./shop.ts";

const PRICE = 10_000n;

describe("a stock facilitator whose node takes a transaction, and loses the answer", () => {
  let sandbox: TestSandbox;
  let node: RpcProxy;
  let facilitator: SandboxFacilitator;
  let seller: LocalSeller;
  before(async () => {
    sandbox = await openTestSandbox();
    node = await startRpcProxy(sandbox.base.url);
    facilitator = await startFacilitator({ chains: { base: { ...sandbox.base, url: node.url } } });
    const set = await loadSet(await makeDirectory(toShop([])));
    seller = await startLocalSeller({ sandbox, set, env: { FACILITATOR_URL: facilitator.url } });
  });
  after(async () => {
    await seller?.stop();
    await facilitator?.stop();
    await node?.stop();
    await sandbox?.stop();
  });

  it("has refused nothing: before the block comes, its buyer is not asked to sign again", async () => {
    const received = (): Promise<bigint> => sandbox.usdc.balanceOf(sandbox.env.BASE_PAYMENT_ADDRESS ?? "0x");
    const before = await received();
    const toss = `${seller.url}/v1/toss`;
    const call = { coins: 2 };
    const paid = json(call, await signFor(await stockClient(sandbox, "base"), await fetch(toss, json(call))));
    await sandbox.base.rpc("evm_setIntervalMining", [3600]); // A block comes when it is asked for.
    node.intervene((method) => (method === "eth_sendRawTransaction" ? "lose-answer" : "pass"));
    await expectUnknown(await fetch(toss, paid), "before the block");
    await sandbox.base.rpc("evm_mine", []);
    node.intervene(() => "pass");
    await eventually(
      () => fetch(toss, paid),
      ({ status }) => status === 200,
    );
    expect((await received()) - before).to.equal(PRICE);
  });
});
