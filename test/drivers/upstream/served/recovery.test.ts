import { expect } from "chai";
import { type Bought, openScene, type Scene, type Shop } from "./support/scene.ts";

const UNLISTED = { chain: "ethereum", calldata_hex: "0x12345678" };

/** A call that asks each source; not OFAC's, which is read in the background, and seldom. */
const CALLS: Readonly<Record<string, readonly [service: string, input: object]>> = {
  coingecko: ["price_token", { symbol: "AERO" }],
  goplus: ["screen", { wallet: "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045" }],
  openchain: ["decode_calldata", UNLISTED],
  fourbyte: ["decode_calldata", UNLISTED],
  base: ["decode_tx", { chain: "base", tx_hash: "0x07471adfe8f4ec553c1199f495be97fc8be8e0626ae307281c22534460184ed1" }],
  ethereum: ["resolve_name", { name: "vitalik.eth" }],
  solana: ["resolve_name", { name: "bonfida.sol" }],
};
const IDS = Object.keys(CALLS);
/** The rail reads balances and settlements from the Base node, too. */
const ASKED_BY_SERVICES = IDS.filter((id) => id !== "base");

describe("a source that is dead for a while", () => {
  let scene: Scene;
  let shop: Shop;
  /** It stands still: a breaker that opened early would otherwise close while the others are brought to open. */
  let now = Date.now();
  before(async () => {
    scene = await openScene();
    shop = await scene.open({ clock: { now: () => now } });
    for (const id of IDS) await scene.source(id).fail("breaks");
  });
  after(async () => {
    await scene?.clear();
    await scene?.close();
  });

  it("is left alone, which /ready says, and is asked again once it lives", async () => {
    while ((await down()).length < IDS.length) await callAll();
    const { status, upstreams } = await shop.ready();
    expect(status).to.equal("degraded");
    for (const { id, reason } of upstreams)
      if (IDS.includes(id)) expect(reason).to.match(/ has failed several times in a row$/);

    const asked = ASKED_BY_SERVICES.map((id) => scene.source(id).asked());
    const refused = await callAll();
    expect(ASKED_BY_SERVICES.map((id) => scene.source(id).asked())).to.deep.equal(asked);
    for (const [at, id] of IDS.entries()) {
      expect([200, 502], id).to.include(refused[at]?.status);
      if (id !== "goplus") expect(Number(refused[at]?.headers.get("retry-after"))).to.be.within(1, 15);
    }

    for (const id of IDS) await scene.source(id).recover();
    now += 15_000;
    expect(await down()).to.deep.equal([]);
    for (const answer of await callAll()) {
      expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
      expect(answer.body.partial ?? false).to.equal(false);
    }
    expect(await down()).to.deep.equal([]);
  });

  async function down(): Promise<string[]> {
    const { upstreams } = await shop.ready();
    return upstreams.filter(({ state }) => state === "down").map(({ id }) => id);
  }

  /** One after the other: what a payer has in flight is compared with its balance, which the Base node knows. */
  async function callAll(): Promise<Bought[]> {
    const answers: Bought[] = [];
    for (const [service, input] of Object.values(CALLS)) answers.push(await shop.buy(service, input));
    return answers;
  }
});
