import { expect } from "chai";
import { encodeAbiParameters, encodeEventTopics, type Hex, type PublicClient } from "viem";
import type { PaymentPayload, PaymentRequirements } from "../../../runtime/core/x402/x402.ts";
import { createEvmSettlements } from "../../../runtime/drivers/evm/settlements.ts";
import { EIP3009_ABI } from "../../../runtime/drivers/evm/token-abi.ts";

const account = (digit: string): Hex => `0x${digit.repeat(40)}`;
const [BUYER, OTHER, SELLER, TOKEN, FOREIGN] = ["1", "2", "3", "4", "5"].map(account) as [Hex, Hex, Hex, Hex, Hex];
const NONCE: Hex = `0x${"6".repeat(64)}`;
const HASH: Hex = `0x${"7".repeat(64)}`;
const BLOCK = { number: 100n, timestamp: 1000n };

const used = (authorizer: Hex, nonce = NONCE, address = TOKEN) => ({
  address,
  data: "0x",
  topics: encodeEventTopics({ abi: EIP3009_ABI, eventName: "AuthorizationUsed", args: { authorizer, nonce } }),
});
const transfer = (from: Hex, to: Hex, address = TOKEN) => ({
  address,
  data: encodeAbiParameters([{ type: "uint256" }], [1000n]),
  topics: encodeEventTopics({ abi: EIP3009_ABI, eventName: "Transfer", args: { from, to } }),
});

describe("the settlement that a receipt on an EVM chain shows", () => {
  const offer: PaymentRequirements = {
    scheme: "exact",
    network: "eip155:8453",
    asset: TOKEN,
    amount: "1000",
    payTo: SELLER,
    maxTimeoutSeconds: 300,
    extra: {},
  };
  const times = { validAfter: "0", validBefore: "2000" };
  const authorization = { from: BUYER, to: SELLER, value: "1000", ...times, nonce: NONCE };
  const payment: PaymentPayload = { x402Version: 2, accepted: offer, payload: { signature: "0x11", authorization } };

  /** The state of the payment where the receipt of its use has these logs, whether a facilitator has named it or not. */
  async function find(...logs: readonly object[]): Promise<string> {
    const asked: { readonly blockNumber?: bigint }[] = [];
    const chain = {
      getBlock: async () => BLOCK,
      readContract: async (call: never) => asked.push(call) > 0,
      request: async () => [{ transactionHash: HASH, topics: used(BUYER).topics }],
      getTransactionReceipt: async () => ({ status: "success", logs }),
    } as unknown as PublicClient;
    const client = {
      chainId: 8453,
      name: "Base",
      ask: async <T>(work: (of: PublicClient) => Promise<T>) => work(chain),
    };
    const settlements = createEvmSettlements({ client });
    const { state } = await settlements.find(payment, offer, new AbortController().signal);
    const named = await settlements.find(payment, offer, new AbortController().signal, HASH);
    expect(named.state).to.equal(state);
    expect(asked[0]?.blockNumber, "the state is read at the block whose time counts").to.equal(BLOCK.number);
    return state;
  }

  it("is what the token says of the authorization, and of the transfer directly after it", async () => {
    expect(await find(used(BUYER), transfer(BUYER, SELLER))).to.equal("settled");
    expect(await find(used(BUYER), transfer(BUYER, OTHER), transfer(BUYER, SELLER))).to.equal("dead");
  });

  it("is not what another contract says in the same transaction", async () => {
    const fake = [used(BUYER, NONCE, FOREIGN), transfer(BUYER, SELLER, FOREIGN)];
    expect(await find(...fake, used(BUYER), transfer(BUYER, OTHER))).to.equal("dead");
    expect(await find(...fake, used(BUYER), transfer(BUYER, SELLER))).to.equal("settled");
  });

  it("is not that of another account with the same nonce", async () => {
    const theirs = [used(OTHER), transfer(OTHER, SELLER)];
    expect(await find(...theirs, used(BUYER), transfer(BUYER, SELLER))).to.equal("settled");
    expect(await find(...theirs, used(BUYER), transfer(BUYER, OTHER))).to.equal("dead");
  });

  it("is no transfer from another account, whatever authorization stands before it", async () => {
    expect(await find(used(BUYER), transfer(OTHER, SELLER))).to.equal("dead");
  });
});
