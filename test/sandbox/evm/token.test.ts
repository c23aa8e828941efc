import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import {
  decodeFunctionResult,
  domainSeparator,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  parseAbi,
  parseSignature,
} from "viem";
import type { PrivateKeyAccount } from "viem/accounts";
import { domain, encode, openTokenStage, payee, sign, type TokenStage, toTransfer } from "./token-stage.ts";

describe("the sandbox's token", () => {
  let stage: TokenStage;
  let payer: PrivateKeyAccount;
  before(async () => {
    stage = await openTokenStage();
  });
  after(() => stage.chain.stop());
  beforeEach(async () => {
    payer = await stage.createPayer();
  });

  it("is compiled from the source that stands beside it, as the other contracts are", () => {
    const root = join(import.meta.dirname, "../../..");
    const sources = globSync("{runtime/sandbox,test/support/chains}/contracts/*.sol", { cwd: root });
    expect(sources).to.have.length(5);
    for (const source of sources) {
      const read = (path: string): string => readFileSync(join(root, path), "utf8");
      const { sourceSha256 } = JSON.parse(read(source.replace(/\.sol$/, ".bytecode.json")));
      const hash = createHash("sha256").update(read(source)).digest("hex");
      expect(hash, `${source} changed: run test/support/chains/contracts/compile.ts`).to.equal(sourceSha256);
    }
  });

  it("stands at the address and under the names that it was given", async () => {
    expect(await stage.read("name")).to.equal("USD Coin");
    expect(await stage.read("symbol")).to.equal("USDC");
    expect(await stage.read("version")).to.equal("2");
    expect(await stage.read("decimals")).to.equal(6);
    expect(await stage.read("DOMAIN_SEPARATOR")).to.equal(domainSeparator({ domain }));
  });

  it("takes orders from its owner alone, and is initialized once", async () => {
    await stage.expectRevert("Ownable: caller is not the owner", encode("mint", [payee, 1n]), payee);
    await stage.expectRevert("FiatToken: contract is already initialized", encode("initialize", ["a", "b", "c", 1]));
  });

  it("moves no more than there is, and nothing to nobody", async () => {
    const excess = await stage.authorize(payer, { value: 1001n });
    await stage.expectRevert("ERC20: transfer amount exceeds balance", await toTransfer(payer, excess));
    const lost = await stage.authorize(payer, { to: `0x${"0".repeat(40)}` });
    await stage.expectRevert("ERC20: transfer to the zero address", await toTransfer(payer, lost));
  });

  it("moves nothing while it is paused", async () => {
    const transfer = await toTransfer(payer, await stage.authorize(payer));
    await stage.token.setPaused(true);
    await stage.expectRevert("Pausable: paused", transfer);
    await stage.expectRevert("Pausable: paused", encode("transfer", [payee, 1n]), payer.address);
    await stage.token.setPaused(false);
    await stage.call(transfer);
  });

  it("moves nothing from or to an account on its blacklist", async () => {
    const transfer = await toTransfer(payer, await stage.authorize(payer));
    for (const account of [payer.address, payee]) {
      await stage.token.setBlacklisted(account, true);
      await stage.expectRevert("Blacklistable: account is blacklisted", transfer);
      await stage.token.setBlacklisted(account, false);
    }
    await stage.call(transfer);
  });

  it("lets a spender spend what a permit allows, once, and no more", async () => {
    const spender = stage.relayer;
    const deadline = (await stage.now()) + 300n;
    const permit = { owner: payer.address, spender, value: 50n, nonce: 0n, deadline };
    const { v, r, s } = parseSignature(await sign(payer, "Permit", permit));
    const data = encode("permit", [payer.address, spender, 50n, deadline, v, r, s]);
    await stage.send(data);
    await stage.expectRevert("EIP2612: invalid signature", data);

    const excess = encode("transferFrom", [payer.address, payee, 51n]);
    await stage.expectRevert("ERC20: transfer amount exceeds allowance", excess);
    await stage.send(encode("transferFrom", [payer.address, payee, 50n]));
    expect(await stage.read("allowance", [payer.address, spender])).to.equal(0n);
    expect(await stage.token.balanceOf(payer.address)).to.equal(950n);

    const late = await sign(payer, "Permit", { ...permit, nonce: 1n, deadline: 1n });
    const expired = encode("permit", [payer.address, spender, 50n, 1n, late]);
    await stage.expectRevert("FiatTokenV2: permit is expired", expired);
  });

  it("has Multicall3 beside it, at its well-known address", async () => {
    const calls = [
      { target: stage.token.address, allowFailure: true, callData: encode("balanceOf", [payer.address]) },
      { target: stage.token.address, allowFailure: true, callData: encode("transfer", [payee, 1001n]) },
    ];
    const abi = parseAbi([
      "function aggregate3((address target, bool allowFailure, bytes callData)[] calls) returns ((bool success, bytes returnData)[])",
      "function tryAggregate(bool requireSuccess, (address target, bytes callData)[] calls)",
    ]);
    const to = "0xcA11bde05977b3631167028862bE2a173976CA11";
    const ask = (data: Hex): Promise<unknown> => stage.chain.rpc("eth_call", [{ to, data }, "latest"]);

    const answer = await ask(encodeFunctionData({ abi, functionName: "aggregate3", args: [calls] }));
    const results = decodeFunctionResult({ abi, functionName: "aggregate3", data: answer as Hex });
    const balance = encodeAbiParameters([{ type: "uint256" }], [1000n]);
    expect(results).to.have.nested.property("[0]").that.deep.equals({ success: true, returnData: balance });
    expect(results).to.have.nested.property("[1].success", false);

    const strict = encodeFunctionData({ abi, functionName: "tryAggregate", args: [true, calls] });
    const message = await ask(strict).catch((error: Error) => error.message);
    expect(message).to.equal("eth_call: execution reverted: Multicall3: call failed");
  });
});
