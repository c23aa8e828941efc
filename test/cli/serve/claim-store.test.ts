import { expect } from "chai";
import { claimStore } from "../../../runtime/cli/serve/claim-store.ts";
import type { OpenStore } from "../../../runtime/drivers/store/keyv.ts";
import { openStore } from "../../../runtime/drivers/store/open-store.ts";
import { createFolder } from "../../support/folder.ts";
import { damage } from "../../support/store/damage.ts";
import { problemOf } from "../../support/thrown.ts";

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
