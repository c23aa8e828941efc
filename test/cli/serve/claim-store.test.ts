import { expect } from "chai";
import { claimStore } from "../../../runtime/cli/serve/claim-store.ts";
import type { OpenStore } from "../../../runtime/drivers/store/keyv.ts";
import { openStore } from "../../../runtime/drivers/store/open-store.ts";
import { createFolder } from "../../support/folder.ts";
import { withRedis } from "../../support/programs.ts";
import { damage } from "../../support/store/damage.ts";
import { startRedis } from "../../support/store/redis.ts";
import { problemOf } from "../../support/thrown.ts";

const PLACES = {
  "a data directory": async () => {
    const dataDir = createFolder();
    return {
      config: { dataDir, redisUrl: undefined },
      stop: async () => {},
      variable: "PAYPHONE_DATA_DIR",
      place: dataDir,
    };
  },
  "a Redis": async () => {
    const { url, stop } = await startRedis();
    return { config: { dataDir: "", redisUrl: url }, stop, variable: "REDIS_URL", place: "This Redis" };
  },
};

for (const [name, prepare] of Object.entries(PLACES))
  (name === "a Redis" ? withRedis.describe : describe)(`${name} of a shop`, () => {
    it("is refused to another one with a sentence, and is that one's once the shop was renamed", async () => {
      const { config, stop, variable, place } = await prepare();
      const store = await openStore(config);
      const claim = (shop: string, isRenamed = false) => claimStore(store, { shop, config, isRenamed });
      try {
        await claim("corner-shop");
        expect((await problemOf(claim("other-shop"))).message).to.include(
          `${place} belongs to the shop "corner-shop", and this one is "other-shop": set ${variable} to a place`,
        );
        await claim("other-shop", true);
        await claim("other-shop");
      } finally {
        await store.close();
        await stop();
      }
    });
  });

describe("a store whose record of its shop is damaged", () => {
  const data = createFolder();
  let store: OpenStore;
  before(async () => {
    store = await openStore({ dataDir: data });
  });
  after(() => store.close());

  const claim = (isRenamed = false) =>
    claimStore(store, { shop: "corner-shop", config: { dataDir: data, redisUrl: undefined }, isRenamed });

  for (const text of ['{"name":"corn', "null", "5", "{}"])
    it(`is refused with what mends it: ${text}`, async () => {
      damage(data, "shop", text);
      expect((await problemOf(claim())).message).to.match(/record "shop" is damaged: .*start it once with --renamed$/);
      await claim(true);
      await claim();
    });
});
