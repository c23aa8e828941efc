import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { storeFileOf } from "../../../../runtime/drivers/store/open-store.ts";
import { edit, TOSS, writeFiles } from "../../../core/set/served-directory.ts";
import { type OperatedShop, openOperatedShop } from "../../../support/sellers/operator.ts";
import { json } from "../../../support/sellers/stock-buyer.ts";

/** Stands for a full disk: every write fails with this word of SQLite's. */
const FULL = `CREATE TRIGGER full BEFORE INSERT ON entries BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END`;

describe("a change of prices while the store takes no writes", () => {
  let shop: OperatedShop;
  before(async () => {
    shop = await openOperatedShop();
  });
  after(() => shop.close());

  it("is refused with the store's reason, and the former set is sold on", async () => {
    const other = new DatabaseSync(storeFileOf(shop.dataDir), { timeout: 10_000 });
    other.exec(FULL);
    await writeFiles(shop.dir, edit(TOSS, "manifests/toss.yaml", "0.01", "0.05"));
    const refused = await shop.running.changes.apply("test").catch((error: Error) => error.message);
    expect(refused).to.match(
      /^toss could not be paid on any rail \(The store takes no writes: .*database or disk is full.*\)$/,
    );
    other.exec("DROP TRIGGER full");
    other.close();
    expect(await (await fetch(`${shop.running.url}/v1/toss`, json({}))).text()).to.include('"amount":"10000"');
  });
});
