import { expect } from "chai";
import { loadSet } from "../../runtime/cli/set/load.ts";
import { readSaleAnswer } from "../../runtime/core/notes/answers.ts";
import { readPrices } from "../../runtime/core/notes/prices.ts";
import { readRefusals } from "../../runtime/core/notes/refusals.ts";
import { facilitatorsOf } from "../../runtime/core/rails/facilitators.ts";
import { createPurchaseList } from "../../runtime/core/wallets/purchases.ts";
import { createDeliveries } from "../../runtime/core/webhooks/deliveries.ts";
import type { OpenStore } from "../../runtime/drivers/store/keyv.ts";
import { openStore } from "../../runtime/drivers/store/open-store.ts";
import { rail, sharedSandbox } from "../support/chains/chains.ts";
import { eventually } from "../support/eventually.ts";
import { createFolder } from "../support/folder.ts";
import { type LocalSellerOptions, startLocalSeller } from "../support/sellers/local-seller.ts";
import { json, stockFetch } from "../support/sellers/stock-buyer.ts";
import { damage } from "../support/store/damage.ts";
import { openErrands } from "./jobs/errands.ts";

type Triple = [string, string, string];

const DAY_MS = 24 * 60 * 60_000;
/** What is no JSON, and what is none of the records. */
const TEXTS = ['{"cut":', "null", "5", '"text"', "[]", "{}"];

describe("damaged records", () => {
  const data = createFolder();
  const shop = openErrands();
  let store: OpenStore;
  let terms: LocalSellerOptions;
  before(async () => {
    const [sandbox, set] = await Promise.all([sharedSandbox(), loadSet(shop.dir)]);
    terms = { sandbox, set, dataDir: data, env: { ERRAND_LOG: shop.log } };
    await (await startLocalSeller(terms)).stop();
    store = await openStore({ dataDir: data });
  });
  after(() => store?.close());

  it("of offers and of facilitators' trust keep no shop from selling", async () => {
    const { network } = rail("base");
    const offers: string[] = [];
    for await (const key of store.keys("offer:draw:")) offers.push(key);
    expect(offers).not.to.deep.equal([]);
    const [facilitator] = facilitatorsOf(rail("base"), terms.set.site);
    for (const text of TEXTS) {
      for (const key of [...offers, `untrusted:${network}:${facilitator}`]) damage(data, key, text);
      const seller = await startLocalSeller(terms);
      const pay = await stockFetch(await sharedSandbox(), "base");
      expect((await pay(`${seller.url}/v1/draw`, json({ what: text }))).status, text).to.equal(200);
      const { warnings = [] } = (await (await fetch(`${seller.url}/ready`)).json()) as { warnings?: string[] };
      const isToBeTold = text === TEXTS[0];
      expect(warnings.some((warning) => /cannot be read: the log says which/.test(warning))).to.equal(isToBeTold);
      expect(seller.output().includes("store.damaged")).to.equal(isToBeTold);
      await seller.stop();
    }
  });

  it("of payments whose outcome is open are told, each once, and other payments are brought to their end", async () => {
    const [first, second, third] = ["one", "two", "three"].map((name) => `${rail("base").network}:${name}`) as Triple;
    damage(data, `payment:${first}`);
    damage(data, `payment:${second}`, '{"state":"paid"}');
    for (const key of [first, second, third]) await store.set(`open:${key}`, 1);
    const seller = await startLocalSeller(terms);
    // Of the third one nothing is known any more.
    await eventually(async () => (await store.get(`open:${third}`)) === undefined);
    await eventually(() => seller.output().split("payment.damaged").length === 3);
    await seller.stop();
    for (const key of [first, second])
      expect(seller.output().split(`"record":"payment:${key}","mend"`), key).to.have.length(2);
  });

  describe("are passed over", () => {
    const now = Date.now();
    const day = Math.floor(now / DAY_MS);
    for (const text of TEXTS) {
      it(`among refusals: ${text}`, async () => {
        await store.set(`refusals:${day}:0`, {});
        await store.set(`refusals:${day}:1`, { "0x1": { at: now, counts: { "refused:x": 2 } } });
        damage(data, `refusals:${day}:0`, text);
        expect((await readRefusals(store, now)).map(({ payer }) => payer)).to.deep.equal(["0x1"]);
      });

      it(`among messages that were given up: ${text}`, async () => {
        const deliveries = createDeliveries(store);
        const event = { id: "sound", type: "sale", at: now, data: {} } as const;
        await deliveries.giveUp("hook:sound", { endpoint: "hook", event, since: now, failures: 1, notBefore: now });
        damage(data, "webhook-given-up:hook:damaged", text);
        damage(data, "webhook:hook:damaged", text);
        const ids: string[] = [];
        for await (const { event: one } of deliveries.givenUp()) ids.push(one.id);
        expect(ids).to.deep.equal(["sound"]);
        expect(await deliveries.read("hook:damaged")).to.equal(undefined);
      });

      it(`among purchases: ${text}`, async () => {
        const account = `eip155:8453:0x${TEXTS.indexOf(text)}`;
        const entry = { key: "nothing", service: "draw", at: now };
        await store.set(`bought:${account}:${day}`, 3);
        for (const at of [1, 2, 3]) await store.set(`bought:${account}:${day}:${at}`, { ...entry, key: `${at}` });
        damage(data, `bought:${account}:${day}:1`, text);
        damage(data, "payment:2", text);
        const list = createPurchaseList({ store, clock: { now: () => now } });
        const ids = (await list.list([account], 10)).map(({ id }) => id.split("-")[1]);
        expect(ids).to.have.members(["2", "3"]);
      });

      it(`among prices and answers: ${text}`, async () => {
        damage(data, "prices", text);
        expect([...(await readPrices(store, "draw"))]).to.deep.equal([]);
        damage(data, "answers-later:sale_1", text);
        damage(data, `answered:${Math.floor(now / 60_000)}:0`, text);
        const times = { begun: now };
        await store.set(`answered:${Math.floor(now / 60_000)}:1`, " sale_2 5");
        expect(await readSaleAnswer(store, { id: "sale_1", times })).not.to.have.property("sentAt");
        expect(await readSaleAnswer(store, { id: "sale_2", times })).to.deep.equal({ sentAt: 5 });
      });
    }
  });
});
