import { expect } from "chai";
import { type Files, writeFiles } from "../../core/set/served-directory.ts";
import { toShop } from "../../rails/shop.ts";
import { sharedSandbox } from "../../support/chains/chains.ts";
import { type FacilitatorProxy, startFacilitatorProxy } from "../../support/chains/facilitator-proxy.ts";
import { type OperatedShop, openOperatedShop } from "../../support/sellers/operator.ts";
import { json, type PayingFetch, stockFetch } from "../../support/sellers/stock-buyer.ts";

const SITE = "manifests/_site.yaml";

/** A shop whose rail names one facilitator, which is at this address. */
function settledAt(url: string): Files {
  const shop = toShop([], [`facilitators: [{ id: own, url: "${url}" }]\n`]);
  return { ...shop, [SITE]: (shop[SITE] ?? "").replace("facilitator: remote", "facilitator: own") };
}

describe("a change of facilitators alone", () => {
  let shop: OperatedShop;
  let pay: PayingFetch;
  let proxies: FacilitatorProxy[];

  before(async () => {
    const { facilitator } = (await sharedSandbox()).description;
    proxies = await Promise.all([startFacilitatorProxy(facilitator), startFacilitatorProxy(facilitator)]);
    shop = await openOperatedShop(settledAt(proxies[0]?.url ?? ""));
    pay = await stockFetch(shop.sandbox, "base");
  });
  after(async () => {
    await shop.close();
    await Promise.all(proxies.map(({ stop }) => stop()));
  });
  const settled = (): readonly number[] => proxies.map(({ asked }) => asked.settle);
  const buy = async (): Promise<number> => (await pay(`${shop.running.url}/v1/toss`, json({}))).status;

  it("has payments settled by the new one from then on", async () => {
    expect([await buy(), settled()]).to.deep.equal([200, [1, 0]]);
    await writeFiles(shop.dir, settledAt(proxies[1]?.url ?? ""));
    const { changes } = await shop.running.changes.apply("test");
    expect(changes.map(({ text }) => text)).to.deep.equal(["facilitator own: url changed"]);
    expect([await buy(), settled()]).to.deep.equal([200, [1, 1]]);
  });

  it("is refused as a whole when nobody is there, and the earlier one goes on", async () => {
    await writeFiles(shop.dir, settledAt("http://127.0.0.1:9")); // Nobody is there.
    const refused = await shop.running.changes.apply("test").catch((error: Error) => error.message);
    expect(refused).to.match(/^toss could not be paid on any rail \(base: /);
    expect([await buy(), settled()]).to.deep.equal([200, [1, 2]]);
  });
});
