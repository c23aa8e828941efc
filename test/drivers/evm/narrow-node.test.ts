import { ExactEvmScheme } from "@x402/evm/exact/client";
import { expect } from "chai";
import { encodeFunctionData, type Hex, parseAbi, toHex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import type { PaymentPayload } from "../../../runtime/core/x402/x402.ts";
import { createEvmClient } from "../../../runtime/drivers/evm/client.ts";
import { createEvmSettlements } from "../../../runtime/drivers/evm/settlements.ts";
import { type EvmChain, startEvmChain } from "../../../runtime/sandbox/evm/chain.ts";
import { placeToken, type Token } from "../../../runtime/sandbox/evm/tokens.ts";
import { rail } from "../../support/chains/chains.ts";
import { type RpcProxy, startRpcProxy } from "../../support/chains/rpc-proxy.ts";
import { eventually } from "../../support/eventually.ts";

const abi = parseAbi([
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)",
]);

/** The free plans of two large providers allow 5 and 10 blocks. */
for (const most of [5, 10])
  describe(`a settlement on a node that lists the events of ${most} blocks at a time`, () => {
    const { asset, domain, symbol } = rail("base");
    const buyer = privateKeyToAccount(generatePrivateKey());
    const payTo = "0x5e11e40000000000000000000000000000005e11";
    const extra = { ...domain! };
    const terms = { scheme: "exact", network: "eip155:8453", amount: "1000", maxTimeoutSeconds: 300 } as const;
    const offer = { ...terms, asset, payTo, extra };
    let chain: EvmChain;
    let token: Token;
    let proxy: RpcProxy;
    before(async () => {
      chain = await startEvmChain({ chainId: 8453 });
      proxy = await startRpcProxy(chain.url);
      token = await placeToken(chain, { address: asset, symbol, decimals: 6, ...domain! });
      await token.mint(buyer.address, 1_000_000n);
      const error = { code: -32600, message: `eth_getLogs is limited to a ${most} block range` };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, error });
      proxy.intervene((method) => {
        if (method !== "eth_getLogs") return "pass";
        const [{ fromBlock, toBlock }] = proxy.params.at(-1) as [Record<"fromBlock" | "toBlock", Hex>];
        return BigInt(toBlock) - BigInt(fromBlock) < most ? "pass" : { status: 200, body };
      });
    });
    after(async () => {
      await proxy.stop();
      await chain.stop();
    });

    /** A payment that is settled, 20 blocks ago. */
    async function settled(): Promise<{ readonly payment: PaymentPayload; readonly transaction: Hex }> {
      const { payload } = await new ExactEvmScheme(buyer).createPaymentPayload(2, offer);
      const { signature, authorization } = payload as { signature: Hex; authorization: Record<string, string> };
      const { from, to, nonce, ...numbers } = authorization as Record<"from" | "to" | "nonce", Hex>;
      const { value, validAfter, validBefore } = numbers as Record<"value" | "validAfter" | "validBefore", string>;
      const args = [from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce, signature] as const;
      const data = encodeFunctionData({ abi, functionName: "transferWithAuthorization", args });
      const [account] = (await chain.rpc("eth_accounts", [])) as Hex[];
      const call = { from: account, to: token.address, data, gas: "0x100000" };
      const transaction = (await chain.rpc("eth_sendTransaction", [call])) as Hex;
      await eventually(() => chain.rpc("eth_getTransactionReceipt", [transaction])); // anvil answers before it mines.
      await chain.rpc("anvil_mine", [toHex(20)]);
      return { payment: { x402Version: 2, accepted: offer, payload }, transaction };
    }
    const find = (payment: PaymentPayload, reported?: string) => {
      const client = createEvmClient({ url: proxy.url, chainId: 8453, retries: 0 });
      return createEvmSettlements({ client }).find(payment, offer, new AbortController().signal, reported);
    };

    it("is found, also where no facilitator has named its transaction", async () => {
      const { payment, transaction } = await settled();
      expect(await find(payment)).to.deep.equal({ state: "settled", transaction });
    });

    it("is not searched for where its transaction is named, and searched for where another one is", async () => {
      const [{ payment, transaction }, other] = [await settled(), await settled()];
      const asked = proxy.calls.length;
      expect(await find(payment, transaction)).to.deep.equal({ state: "settled", transaction });
      expect(proxy.calls.slice(asked)).not.to.include("eth_getLogs");
      for (const wrong of [other.transaction, `0x${"ab".repeat(32)}`, "no hash"])
        expect(await find(payment, wrong)).to.deep.equal({ state: "settled", transaction });
    });
  });
