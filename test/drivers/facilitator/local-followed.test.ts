import { expect } from "chai";
import type { EvmClient } from "../../../runtime/drivers/evm/client.ts";
import type { EvmSender } from "../../../runtime/drivers/evm/sender.ts";
import { createLocalFacilitator } from "../../../runtime/drivers/facilitator/local.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";
import { OFFER } from "./offer.ts";

const HASH = `0x${"7".repeat(64)}`;

describe("a payment that another process has sent", () => {
  it("is refused when it was reverted, and its gas is counted against its payer, once", async () => {
    const inclusion = { status: "reverted", hash: HASH, feeWei: 5n * 10n ** 9n, logs: [] };
    const network = "eip155:8453" as const;
    const { asset } = OFFER;
    const facilitator = createLocalFacilitator({
      network,
      client: { name: "base", ask: (work: (chain: object) => unknown) => work(CHAIN) } as unknown as EvmClient,
      sender: { find: async () => ({ hash: HASH, included: async () => inclusion }) } as unknown as EvmSender,
      treasury: { evmAddress: async () => `0x${"1".repeat(40)}` },
      store: createMemoryStore(),
      tokens: [{ asset, name: "USD Coin", version: "2", decimals: 6 }],
    });
    const authorization = {
      from: `0x${"3".repeat(40)}`,
      to: OFFER.payTo,
      value: OFFER.amount,
      validAfter: "0",
      validBefore: "1900000000",
      nonce: `0x${"4".repeat(64)}`,
    };
    const payment = { x402Version: 2, accepted: OFFER, payload: { signature: "0x55", authorization } } as const;
    for (let attempt = 0; attempt < 2; attempt += 1)
      expect(await facilitator.settle(payment, OFFER, new AbortController().signal)).to.deep.include({
        success: false,
        errorReason: "invalid_exact_evm_transaction_reverted",
        transaction: "",
      });
    expect(await facilitator.warnings?.()).to.deep.equal([
      "base: 1 settlement reverted within a day, which cost the treasury 0.000000006 of the chain's coin",
    ]);
  });
});

/** The payer is an ordinary account. */
const CHAIN = { getCode: async () => undefined };
