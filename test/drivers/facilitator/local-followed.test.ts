import { expect } from "chai";
import type { EvmClient } from "../../../runtime/drivers/evm/client.ts";
import type { EvmSender } from "../../../runtime/drivers/evm/sender/sender.ts";
import { createLocalFacilitator } from "../../../runtime/drivers/facilitator/local/local.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";
import { OFFER } from "./offer.ts";

const HASH = `0x${"7".repeat(64)}`;

describe("a payment that another process has sent", () => {
  it("is refused when it was reverted, and its gas is counted against its payer, once", async () => {
    const { facilitator, lostPlaces } = open({ sentAt: END_MS - 60_000, minedAt: END_MS - 1000 });
    for (let attempt = 0; attempt < 2; attempt += 1)
      expect(await facilitator.settle(PAYMENT, OFFER, new AbortController().signal)).to.deep.include(REFUSAL);
    expect(await facilitator.warnings?.()).to.deep.equal([WARNING]);
    expect(lostPlaces()).to.equal(1);
  });

  it("is refused, and its gas counted against nobody, when it was sent in time and expired before its block", async () => {
    const { facilitator, lostPlaces } = open({ sentAt: END_MS - 30_000, minedAt: END_MS });
    expect(await facilitator.settle(PAYMENT, OFFER, new AbortController().signal)).to.deep.include(REFUSAL);
    expect(await facilitator.warnings?.()).to.deep.equal([WARNING]);
    expect(lostPlaces()).to.equal(0);
  });

  it("counts against a payer who left it no time", async () => {
    const { facilitator, lostPlaces } = open({ sentAt: END_MS - 29_999, minedAt: END_MS });
    expect(await facilitator.settle(PAYMENT, OFFER, new AbortController().signal)).to.deep.include(REFUSAL);
    expect(lostPlaces()).to.equal(1);
  });
});

const REFUSAL = { success: false, errorReason: "invalid_exact_evm_transaction_reverted", transaction: "" };
const WARNING = "base: 1 settlement reverted within a day, which cost the treasury 0.000000006 of the chain's coin";
const END_MS = 1_900_000_000_000;
const authorization = {
  from: `0x${"3".repeat(40)}`,
  to: OFFER.payTo,
  value: OFFER.amount,
  validAfter: "0",
  validBefore: String(END_MS / 1000),
  nonce: `0x${"4".repeat(64)}`,
};
const PAYMENT = { x402Version: 2, accepted: OFFER, payload: { signature: "0x55", authorization } } as const;

/** A facilitator whose transaction for the payment was reverted; the payer is an ordinary account. Unix milliseconds. */
function open({ sentAt, minedAt }: { readonly sentAt: number; readonly minedAt: number }) {
  const inclusion = { status: "reverted", hash: HASH, feeWei: 5n * 10n ** 9n, logs: [], blockNumber: 7n, sentAt };
  const getBlock = async () => ({ timestamp: BigInt(minedAt / 1000) });
  const chain = { getCode: async () => undefined, getBlock };
  const store = createMemoryStore();
  const facilitator = createLocalFacilitator({
    network: "eip155:8453",
    client: { name: "base", ask: async (work: (chain: object) => unknown) => work(chain) } as unknown as EvmClient,
    sender: { find: async () => ({ hash: HASH, included: async () => inclusion }) } as unknown as EvmSender,
    treasury: { evmAddress: async () => `0x${"1".repeat(40)}` },
    store,
    tokens: [{ asset: OFFER.asset, name: "USD Coin", version: "2", decimals: 6 }],
  });
  const lostPlaces = (): number => [...store.entries.keys()].filter((key) => key.startsWith("gas-place:")).length;
  return { facilitator, lostPlaces };
}
