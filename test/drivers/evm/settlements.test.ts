import { ExactEvmScheme } from "@x402/evm/exact/client";
import { expect } from "chai";
import { encodeFunctionData, type Hex, parseAbi, toHex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import type { PaymentPayload, PaymentRequirements } from "../../../runtime/core/x402/x402.ts";
import { createEvmClient } from "../../../runtime/drivers/evm/client.ts";
import { createEvmSettlements, type EvmSettlementsOptions } from "../../../runtime/drivers/evm/settlements.ts";
import { type EvmChain, startEvmChain } from "../../../runtime/sandbox/evm/chain.ts";
import { placeToken, type Token } from "../../../runtime/sandbox/evm/tokens.ts";
import { rail } from "../../support/chains/chains.ts";
import { type RpcProxy, startRpcProxy } from "../../support/chains/rpc-proxy.ts";
import { eventually } from "../../support/eventually.ts";
import { thrown } from "../../support/thrown.ts";

const never = new AbortController().signal;
const seller = "0x5e11e40000000000000000000000000000005e11";
const abi = parseAbi([
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)",
  "function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature)",
  "function aggregate3((address target, bool allowFailure, bytes callData)[] calls)",
]);

describe("the settlements on an EVM chain", () => {
  const base = rail("base");
  const buyer = privateKeyToAccount(generatePrivateKey());
  let chain: EvmChain;
  let token: Token;
  let proxy: RpcProxy;
  let snapshot: unknown;

  before(async () => {
    chain = await startEvmChain({ chainId: 8453 });
    proxy = await startRpcProxy(chain.url);
    token = await placeToken(chain, { address: base.asset, symbol: base.symbol, decimals: 6, ...base.domain! });
    await token.mint(buyer.address, 1_000_000n);
  });
  after(async () => {
    await proxy.stop();
    await chain.stop();
  });
  beforeEach(async () => {
    snapshot = await chain.rpc("evm_snapshot", []);
  });
  afterEach(async () => {
    proxy.intervene(() => "pass");
    await chain.rpc("evm_revert", [snapshot]);
  });

  const offer = (amount = "1000", payTo: string = seller): PaymentRequirements => ({
    scheme: "exact",
    network: "eip155:8453",
    asset: base.asset,
    amount,
    payTo,
    maxTimeoutSeconds: 300,
    extra: base.domain!,
  });

  async function pay(accepted = offer()): Promise<PaymentPayload> {
    const requirements = accepted as Parameters<ExactEvmScheme["createPaymentPayload"]>[1];
    const { payload } = await new ExactEvmScheme(buyer).createPaymentPayload(2, requirements);
    return { x402Version: 2, accepted, payload };
  }

  const partsOf = ({ payload }: PaymentPayload) =>
    payload as {
      signature: Hex;
      authorization: Record<"from" | "to" | "nonce", Hex> & Record<"value" | "validAfter" | "validBefore", string>;
    };

  const toCall = (payment: PaymentPayload): Hex => {
    const { signature, authorization } = partsOf(payment);
    const { from, to, nonce, ...of } = authorization;
    const [value, since, until] = [of.value, of.validAfter, of.validBefore].map(BigInt) as [bigint, bigint, bigint];
    const args = [from, to, value, since, until, nonce, signature] as const;
    return encodeFunctionData({ abi, functionName: "transferWithAuthorization", args });
  };

  async function send(to: string, data: Hex): Promise<Hex> {
    const [from] = (await chain.rpc("eth_accounts", [])) as Hex[];
    const hash = (await chain.rpc("eth_sendTransaction", [{ from, to, data, gas: "0x100000" }])) as Hex;
    await eventually(() => chain.rpc("eth_getTransactionReceipt", [hash])); // anvil answers before it mines.
    return hash;
  }
  const settle = (payment: PaymentPayload): Promise<Hex> => send(token.address, toCall(payment));

  const mineAt = (second: number) => chain.rpc("evm_mine", [second]);

  const read = (payment: PaymentPayload, options: Partial<EvmSettlementsOptions> = {}, accepted = payment.accepted) =>
    createEvmSettlements({
      client: createEvmClient({ url: proxy.url, chainId: 8453, retries: 0 }),
      ...options,
    }).find(payment, accepted, never);

  it("are open while the authorization is unused and alive", async () => {
    expect(await read(await pay())).to.deep.equal({ state: "open" });
  });

  it("are found by the authorization alone, however many blocks ago", async () => {
    const payment = await pay();
    const transaction = await settle(payment);
    expect(await read(payment)).to.deep.equal({ state: "settled", transaction });
    await chain.rpc("anvil_mine", [toHex(350)]);
    expect(await read(payment, { chunkBlocks: 50n })).to.deep.equal({ state: "settled", transaction });
  });

  it("are found after a day on a chain with many blocks a second, and few questions are asked", async () => {
    const payment = await pay();
    const transaction = await settle(payment);
    await chain.rpc("evm_increaseTime", [3600]); // The chain's clock falls behind at each revert.
    await chain.rpc("anvil_mine", [toHex(400)]);
    const from = proxy.calls.length;
    const options = { chunkBlocks: 20n, windowBlocks: 100n };
    expect(await read(payment, options)).to.deep.equal({ state: "settled", transaction });
    expect(proxy.calls.slice(from).filter((method) => method === "eth_getLogs")).to.have.length(2);
  });

  it("are found whatever the payer made of an address's checksum", async () => {
    const payment = await pay();
    const transaction = await settle(payment);
    const { authorization } = partsOf(payment);
    const odd = { ...authorization, from: `0x${authorization.from.slice(2).toUpperCase()}` };
    const payload = { ...payment.payload, authorization: odd };
    expect(await read({ ...payment, payload })).to.deep.equal({ state: "settled", transaction });
  });

  it("are found although the node refuses wide questions", async () => {
    const payment = await pay();
    const transaction = await settle(payment);
    await chain.rpc("anvil_mine", [toHex(300)]);
    let asked = 0;
    const refusal = JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code: -32602, message: "block range too wide" } });
    proxy.intervene((method) => (method === "eth_getLogs" && asked++ < 2 ? { status: 200, body: refusal } : "pass"));
    expect(await read(payment, { chunkBlocks: 1000n })).to.deep.equal({ state: "settled", transaction });
  });

  it("are not known, rather than dead, when the use is longer ago than is looked back", async () => {
    const payment = await pay();
    await settle(payment);
    await chain.rpc("anvil_mine", [toHex(50)]);
    expect(await thrown(read(payment, { windowBlocks: 20n }))).to.include({ code: "upstream-failed" });
  });

  it("are dead half a minute after the end by the chain's own clock: before that, a reorganisation may bring them", async () => {
    const [payment, other] = [await pay(), await pay()];
    const end = Number(partsOf(other).authorization.validBefore);
    for (const second of [end - 2, end]) await mineAt(second);
    expect(await read(payment)).to.deep.equal({ state: "open" });
    const [from] = (await chain.rpc("eth_accounts", [])) as Hex[];
    await chain.rpc("anvil_reorg", [2, [[{ from, to: token.address, data: toCall(payment), gas: "0x100000" }, 0]]]);
    expect(await read(payment)).to.include({ state: "settled" });
    await mineAt(end + 29);
    expect(await read(other)).to.deep.equal({ state: "open" });
    await mineAt(end + 30);
    expect(await read(other)).to.deep.equal({ state: "dead" });
  });

  it("stay settled after the end", async () => {
    const payment = await pay();
    const transaction = await settle(payment);
    await chain.rpc("evm_increaseTime", [1000]);
    await chain.rpc("evm_mine", []);
    expect(await read(payment)).to.deep.equal({ state: "settled", transaction });
  });

  it("are dead when the payer cancelled", async () => {
    const payment = await pay();
    const { nonce } = partsOf(payment).authorization;
    const signature = await buyer.signTypedData({
      domain: { ...base.domain!, chainId: 8453, verifyingContract: token.address },
      types: {
        CancelAuthorization: [
          { name: "authorizer", type: "address" },
          { name: "nonce", type: "bytes32" },
        ],
      },
      primaryType: "CancelAuthorization",
      message: { authorizer: buyer.address, nonce },
    });
    await send(
      token.address,
      encodeFunctionData({ abi, functionName: "cancelAuthorization", args: [buyer.address, nonce, signature] }),
    );
    expect(await read(payment)).to.deep.equal({ state: "dead" });
  });

  it("are dead when the nonce was used for less, or for somebody else", async () => {
    for (const other of [offer("999"), offer("1000", buyer.address)]) {
      const payment = await pay(other);
      await settle(payment);
      expect(await read(payment, {}, offer())).to.deep.equal({ state: "dead" });
    }
  });

  it("do not count another payment's transfer in the same transaction", async () => {
    const honest = await pay();
    const trick = await pay(offer("1000", buyer.address));
    const calls = [honest, trick].map((payment) => ({
      target: token.address,
      allowFailure: false,
      callData: toCall(payment),
    }));
    const multicall = "0xcA11bde05977b3631167028862bE2a173976CA11";
    for (const order of [calls, calls.toReversed()]) {
      const before = await chain.rpc("evm_snapshot", []);
      await send(multicall, encodeFunctionData({ abi, functionName: "aggregate3", args: [order] }));
      expect(await read(trick, {}, offer())).to.deep.equal({ state: "dead" });
      expect(await read(honest)).to.include({ state: "settled" });
      await chain.rpc("evm_revert", [before]);
    }
  });

  for (const depth of [1, 2, 3])
    it(`count only what the chain still holds after a reorganisation of depth ${depth}`, async () => {
      await chain.rpc("anvil_mine", [toHex(depth)]); // A reverted snapshot has left no states to go back to.
      const payment = await pay();
      await settle(payment);
      await chain.rpc("anvil_mine", [toHex(depth - 1)]);
      expect(await read(payment)).to.include({ state: "settled" });
      await chain.rpc("anvil_reorg", [depth, []]);
      expect(await read(payment)).to.deep.equal({ state: "open" });
    });

  it("are not known when the receipt contradicts the list of events", async () => {
    const payment = await pay();
    const transaction = await settle(payment);
    const receipt = (await chain.rpc("eth_getTransactionReceipt", [transaction])) as Record<string, unknown>;
    const [first] = receipt.logs as unknown[];
    for (const change of [{ logs: [] }, { logs: [first] }, { status: "0x0" }, { status: "0x0", logs: [] }, undefined]) {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, result: change ? { ...receipt, ...change } : null });
      proxy.intervene((method) => (method === "eth_getTransactionReceipt" ? { status: 200, body } : "pass"));
      expect(await thrown(read(payment)), JSON.stringify(change)).to.include({ code: "upstream-failed" });
    }
    proxy.intervene(() => "pass");
    expect(await read(payment)).to.deep.equal({ state: "settled", transaction });
  });

  it("are not known when the chain cannot be read, or the token answers nonsense", async () => {
    const payment = await pay();
    proxy.intervene((method) => (method === "eth_call" ? "lose" : "pass"));
    expect(await thrown(read(payment))).to.include({ code: "upstream-failed" });
    proxy.intervene(() => "pass");
    await chain.rpc("anvil_setCode", [token.address, "0x"]);
    expect(await thrown(read(payment))).to.include({ code: "upstream-failed" });
  });
});
