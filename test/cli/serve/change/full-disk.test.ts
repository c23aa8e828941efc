import { rm } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { storeFileOf } from "../../../../runtime/drivers/store/open-store.ts";
import { edit, TOSS, writeFiles } from "../../../core/set/served-directory.ts";
import { type OperatedShop, openOperatedShop } from "../../../support/sellers/operator.ts";
import { createBuyer, json, signFor } from "../../../support/sellers/stock-buyer.ts";

/** Stands for a full disk: every write fails with this word of SQLite's. */
const FULL = `CREATE TRIGGER full BEFORE INSERT ON entries BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END`;

/** A second service. */
const FLIP = TOSS["manifests/toss.yaml"]?.replace("id: toss", "id: flip").replace("/toss", "/flip") ?? "";

describe("a change of prices while the store takes no writes", () => {
  let shop: OperatedShop;
  before(async () => {
    shop = await openOperatedShop();
  });
  after(() => shop.close());

  /** Applies the folder while the store is full. @returns why that was refused */
  async function applyInVain(): Promise<unknown> {
    const other = new DatabaseSync(storeFileOf(shop.dataDir), { timeout: 10_000 });
    other.exec(FULL);
    const refused = await shop.running.changes.apply("test").catch((error: Error) => error.message);
    other.exec("DROP TRIGGER full");
    other.close();
    return refused;
  }

  it("is refused with the store's reason, and the former set is sold on", async () => {
    await writeFiles(shop.dir, edit(TOSS, "manifests/toss.yaml", "0.01", "0.05"));
    expect(await applyInVain()).to.match(
      /^toss could not be paid on any rail \(The store takes no writes: .*database or disk is full.*\)$/,
    );
    expect(await (await fetch(`${shop.running.url}/v1/toss`, json({}))).text()).to.include('"amount":"10000"');
  });

  it("forgets no removed service that the refused set has again", async () => {
    const apply = async (price: string) => {
      await writeFiles(shop.dir, edit(TOSS, "manifests/toss.yaml", "0.01", price));
      return shop.running.changes.apply("test");
    };
    const flip = join(shop.dir, "manifests/flip.yaml");
    const post = (headers = {}) => fetch(`${shop.running.url}/v1/flip`, json({}, headers));
    await writeFiles(shop.dir, { "manifests/flip.yaml": FLIP });
    await apply("0.02");
    const payment = await signFor(await createBuyer(shop.sandbox), await post());
    await rm(flip);
    await apply("0.03");
    await writeFiles(shop.dir, { ...edit(TOSS, "manifests/toss.yaml", "0.01", "0.04"), "manifests/flip.yaml": FLIP });
    expect(await applyInVain()).to.match(/^toss could not be paid/);
    await rm(flip);
    await apply("0.05");
    expect((await post(payment)).status).to.equal(200);
  });
});
