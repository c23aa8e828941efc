import { expect } from "chai";
import type { Facilitator } from "../../../runtime/core/x402/x402.ts";
import { createEvmClient } from "../../../runtime/drivers/evm/client.ts";
import { withCheck } from "../../../runtime/drivers/facilitator/checked.ts";
import { checkToken, type TokenFacts } from "../../../runtime/drivers/facilitator/local/token.ts";
import { thrown } from "../../support/thrown.ts";
import { jpycFacts, never, stageFacilitator } from "./stage.ts";

const KINDS = [{ x402Version: 2, scheme: "exact", network: "eip155:137" }];
const remote: Facilitator = {
  supported: async () => KINDS,
  verify: () => expect.fail("nothing is verified"),
  settle: () => expect.fail("nothing is settled"),
};

describe("somebody else's facilitator", () => {
  const stage = stageFacilitator();
  const open = (facts: Partial<TokenFacts> = {}, chainId = 137): Facilitator => {
    const client = createEvmClient({ url: stage.proxy.url, chainId, retries: 0 });
    return withCheck(remote, () => checkToken(client, { ...jpycFacts, ...facts }, never), "sound");
  };

  it("is up where the token is as the configuration says, which is read once", async () => {
    const facilitator = open();
    expect(await facilitator.supported(never)).to.equal(KINDS);
    const asked = stage.proxy.calls.length;
    expect(await facilitator.supported(never)).to.equal(KINDS);
    expect(stage.proxy.calls.length).to.equal(asked);
  });

  it("is down where prices would be others than the buyers are told, or nobody could tell who has paid", async () => {
    const decimals = `The token ${jpycFacts.asset} on Polygon has 18 decimals, but the configuration says 6`;
    expect(await thrown(open({ decimals: 6 }).supported(never))).to.include({ code: "unavailable", message: decimals });
    const chain = "The RPC URL of Base leads to chain 137 instead of 8453";
    expect(await thrown(open({}, 8453).supported(never))).to.include({ code: "unavailable", message: chain });
  });

  it("is up while the token cannot be read, which is tried again", async () => {
    const facilitator = open({ decimals: 6 });
    stage.proxy.intervene((method) => (method === "eth_call" ? "lose" : "pass"));
    expect(await facilitator.supported(never)).to.equal(KINDS);
    stage.proxy.intervene(() => "pass");
    expect(await thrown(facilitator.supported(never))).to.include({ code: "unavailable" });
  });
});
