import { expect } from "chai";
import type { OwnerOf } from "../../../runtime/core/x402/rails.ts";
import { createScriptedRail } from "../../support/chains/scripted-rail.ts";
import { openShop, ROLL, type Shop, type ShopOptions } from "../../support/sellers/shop.ts";

const MALLORY = "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T";
const AGENT = "0xAbCdEf0000000000000000000000000000000002";

describe("house rules, where a wallet signs for another one's money", () => {
  let shop: Shop;
  let asked = 0;
  afterEach(() => shop.close());

  const open = async (rules: ShopOptions["rules"], ownerOf: OwnerOf, screen?: ShopOptions["screen"]): Promise<void> => {
    asked = 0;
    const counted: OwnerOf = (payload) => {
      asked += 1;
      return ownerOf(payload);
    };
    const rail = { ...createScriptedRail(), ownerOf: counted };
    shop = await openShop({ rail, ...(rules && { rules }), ...(screen && { screen }) });
  };
  const buy = async (): Promise<unknown> => {
    const response = await shop.post("/v1/roll", ROLL, {
      "payment-signature": await shop.pay("/v1/roll", { from: AGENT }),
    });
    const { code } = (await response.json()) as { code?: string };
    expect(shop.rail.moved.size).to.equal(response.status === 200 ? 1 : 0);
    return code ?? response.status;
  };

  it("refuse the money of a denied wallet, and of one that is not allowed", async () => {
    await open({ deny: [MALLORY] }, async () => MALLORY);
    expect(await buy()).to.equal("buyer-refused");
    await shop.close();
    await open({ allow: [AGENT] }, async () => MALLORY);
    expect(await buy()).to.equal("buyer-refused");
    await shop.close();
    await open({ allow: [AGENT, MALLORY] }, async () => MALLORY);
    expect(await buy()).to.equal(200);
  });

  it("screen both", async () => {
    const screened: string[] = [];
    const screen = { service: "screen", refuse: ["sanctions_match"] };
    await open(
      { screen },
      async () => MALLORY,
      async (wallet) => {
        screened.push(wallet);
        return wallet === MALLORY;
      },
    );
    expect(await buy()).to.equal("buyer-refused");
    expect(screened).to.deep.equal([AGENT.toLowerCase(), MALLORY]);
  });

  it("sell nothing while nobody can tell whose money it is", async () => {
    await open({ deny: [MALLORY] }, () => Promise.reject(new Error("The node is away")));
    expect(await buy()).to.equal("unavailable");
    await shop.close();
    await open({ deny: [MALLORY] }, async () => undefined);
    expect(await buy()).to.equal("buyer-refused");
  });

  it("ask nobody whose money it is where no wallet is refused", async () => {
    await open(undefined, async () => undefined);
    expect(await buy()).to.equal(200);
    expect(asked).to.equal(0);
  });
});
