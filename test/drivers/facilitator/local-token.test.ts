import { expect } from "chai";
import { createEvmClient } from "../../../runtime/drivers/evm/client.ts";
import { createLocalFacilitator } from "../../../runtime/drivers/facilitator/local/local.ts";
import { checkToken, type TokenFacts } from "../../../runtime/drivers/facilitator/local/token.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";
import { thrown } from "../../support/thrown.ts";
import { jpycFacts, never, polygon, seller, stageFacilitator, treasury } from "./stage.ts";

describe("the in-process facilitator", () => {
  const stage = stageFacilitator();

  describe("checks its token", () => {
    const check = (facts: Partial<TokenFacts>) =>
      checkToken(createEvmClient({ url: stage.proxy.url, chainId: 137, retries: 0 }), { ...jpycFacts, ...facts });
    const where = `The token ${polygon.asset} on Polygon`;

    it("and finds nothing wrong with the configured one", async () => {
      expect(await check({})).to.equal(undefined);
    });

    const mismatches: [Partial<TokenFacts>, string][] = [
      [{ name: "JPYC" }, `${where} is named "JPY Coin", but the configuration says "JPYC"`],
      [{ decimals: 6 }, `${where} has 18 decimals, but the configuration says 6`],
      [
        { version: "2" },
        `${where} does not sign for the EIP-712 domain "JPY Coin", version "2", on chain 137; check its version`,
      ],
      [
        { asset: seller },
        `The token ${seller} on Polygon does not answer as a token with EIP-712 signatures does; check its address`,
      ],
    ];
    for (const [facts, sentence] of mismatches)
      it(`and says so when its ${Object.keys(facts)} differs`, async () => {
        expect(await check(facts)).to.equal(sentence);
        const client = createEvmClient({ url: stage.proxy.url, chainId: 137 });
        const tokens = [{ ...jpycFacts, ...facts }];
        const facilitator = createLocalFacilitator({
          network: "eip155:137",
          client,
          sender: stage.sender,
          treasury: { evmAddress: async () => treasury.address },
          store: createMemoryStore(),
          tokens,
        });
        expect(await thrown(facilitator.supported(never))).to.include({
          code: "facilitator-unavailable",
          message: sentence,
        });
      });

    it("and does not judge it while the chain cannot be asked", async () => {
      stage.proxy.intervene((method) => (method === "eth_call" ? "lose" : "pass"));
      expect(await thrown(check({}))).to.include({ code: "upstream-failed" });
    });
  });
});
