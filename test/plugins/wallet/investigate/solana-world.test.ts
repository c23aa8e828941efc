import { expect } from "chai";
import { offline } from "../../../support/sources/replay.ts";
import type { Fault } from "../../../support/world/manners.ts";
import { investigateIn, ON_SOLANA, WALLET } from "./world.ts";

/** A node's answer for a transaction that it has pruned. */
const NOT_KEPT = JSON.stringify({ jsonrpc: "2.0", id: 1, result: null });

describe("an investigation of a Solana wallet", () => {
  offline();

  it("reads everything from a node with the limits of a public one", async () => {
    const rate = { perSecond: 4, burst: 40 };
    const manners = {
      solana: { rate: { perSecond: 10, burst: 100 }, rates: { getTransaction: rate, getSignaturesForAddress: rate } },
    };
    const { data } = await investigateIn({ payments: ON_SOLANA, manners }, WALLET);
    expect(data.missing).to.deep.equal([]);
    expect(data).to.include({ verdict: "low", provisional: false });
    expect(data.movements.volumes[1]).to.include({ asset: "USDC", received: "1500", receivedCount: 150 });
    expect(data.activity.firstSeenAt).to.be.closeTo(1_800_000_000 - 400 * 86_400, 2);
  });

  it("reads what a USDC account has received that is closed since, which a node does not list", async () => {
    const { data } = await investigateIn({ payments: ON_SOLANA, closed: [WALLET] }, WALLET);
    expect(data.movements.volumes[1]).to.include({ asset: "USDC", received: "1500", receivedCount: 150 });
    expect(data.graph.counterparties).to.equal(2);
  });

  it("calls no wallet young whose node has pruned its first transactions", async () => {
    const { data, report } = await investigateIn({ payments: ON_SOLANA, solanaDays: 20 }, WALLET);
    expect(data.activity.firstSeenAt).to.equal(null);
    expect(data.reasons.map(({ code }) => code)).not.to.include("young");
    expect(report).to.include("At least 20 days old");
  });

  it("names the transactions that the node has listed and not kept", async () => {
    const forgetful = (asked: number): Fault => {
      let count = 0;
      return ({ name }) => (name === "getTransaction" && count++ < asked ? NOT_KEPT : undefined);
    };
    const manners = { solana: { fault: forgetful(3) } };
    const { data } = await investigateIn({ payments: ON_SOLANA, manners }, WALLET);
    expect(data.missing.map(({ message }) => message)).to.deep.equal([
      "3 of its transactions could not be read: Solana node has not kept all transactions",
    ]);
    expect(data.verdict).to.equal("inconclusive");
  });
});
