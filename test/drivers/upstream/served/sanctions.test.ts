import { expect } from "chai";
import { eventually } from "../../../support/eventually.ts";
import { createFolder } from "../../../support/folder.ts";
import { makeProjectShop } from "../../../support/sellers/project-shop.ts";
import { type Bought, openScene, type Scene, type Shop } from "./support/scene.ts";

/** On OFAC's list as it is recorded, and not among the addresses that are built in. */
const LISTED = { wallet: "TNiq9AXBp9EjUqhDhrwrfvAA8U3GUQZH81" };

describe("OFAC's list", () => {
  let scene: Scene;
  let dir: string;
  before(async () => {
    scene = await openScene();
    dir = await makeProjectShop({ services: ["screen"], rails: ["base"] });
  });
  afterEach(() => scene.clear());
  after(() => scene?.close());

  it("is read once for two processes on a store, and searched after kill -9 and a start without its source", async () => {
    const data = createFolder();
    const first = await scene.start({ dir, dataDir: data });
    const { body } = await untilRead(first);
    const asked = scene.source("ofac").asked();
    const beside = await scene.open({ dir, dataDir: data });
    expect((await beside.buy("screen", LISTED)).body.corpus_version).to.equal(body.corpus_version);
    expect(scene.source("ofac").asked()).to.equal(asked);
    await first.kill();
    await scene.source("ofac").fail("refuses connections");
    const second = await scene.open({ dir, dataDir: data });
    const again = await second.buy("screen", LISTED);
    expect(again.body).to.include({ sanctions_match: true, recommendation: "block" });
    expect(again.body.corpus_version).to.equal(body.corpus_version);
  });

  const untilRead = (shop: Shop): Promise<Bought> =>
    eventually(
      () => shop.buy("screen", LISTED),
      ({ status, body }) => {
        expect(status).to.equal(200);
        return body.sanctions_match;
      },
      100,
    );
});
