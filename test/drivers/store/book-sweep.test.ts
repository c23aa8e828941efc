import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { SHOW_ROUND } from "../../../runtime/drivers/books/showing.ts";
import { createLog } from "../../../runtime/drivers/log.ts";
import type { OpenStore } from "../../../runtime/drivers/store/keyv.ts";
import { openSqliteStore } from "../../../runtime/drivers/store/sqlite/sqlite.ts";
import { toSale } from "../../support/books/sales.ts";
import { eventually } from "../../support/eventually.ts";
import { createFolder } from "../../support/folder.ts";

describe("a book whose newest sales cannot be shown", () => {
  let folder: string;
  let store: OpenStore;
  let rival: DatabaseSync;
  const logged: unknown[] = [];
  beforeEach(async () => {
    logged.length = 0;
    folder = createFolder();
    const file = join(folder, "payphone.sqlite");
    const log = createLog({ destination: { write: (line) => logged.push(JSON.parse(line).event) } });
    store = await openSqliteStore({ file, log });
    rival = new DatabaseSync(file);
    rival.exec("CREATE TRIGGER fault BEFORE INSERT ON book_times BEGIN SELECT RAISE(ABORT, 'worn out'); END");
  });
  afterEach(async () => {
    rival.close();
    await store.close();
  });

  /** Enters enough sales for an attempt at once. */
  async function sell(): Promise<void> {
    const sales = Array.from({ length: SHOW_ROUND }, () => toSale());
    await Promise.all(sales.map((sale) => store.enter(sale, { key: sale.id, value: 1, durability: "lazy" })));
  }

  it("fails no sale that is entered in the same transaction", async () => {
    await sell();
    await sell();
    expect(rival.prepare("SELECT count(*) AS count FROM book_lines").get()?.count).to.equal(2 * SHOW_ROUND);
  });

  it("fails no other write when its old lines cannot be deleted", async () => {
    rival.exec(
      "DROP TRIGGER fault; CREATE TRIGGER fault BEFORE DELETE ON book_lines BEGIN SELECT RAISE(ABORT, 'no'); END",
    );
    await sell();
    const forget = async (): Promise<void> => {
      while (await store.forget(Date.now(), 0));
    };
    const [forgotten, written] = await Promise.allSettled([forget(), store.set("a", 1)]);
    expect([forgotten.status, written.status]).to.deep.equal(["rejected", "fulfilled"]);
  });

  it("tells the operator after some attempts, once in the log, until it is mended", async () => {
    await sell();
    expect(store.warnings()).to.deep.equal([]);
    for (let attempt = 0; attempt < 3; attempt += 1) await sell();
    await eventually(() => store.warnings().length > 0);
    expect(store.warnings()).to.have.length(1);
    expect(store.warnings()[0]).to.match(/cannot be read in the book .*worn out/);
    expect(logged).to.deep.equal(["book.not-shown"]);

    rival.exec("DROP TRIGGER fault");
    await sell();
    await eventually(() => store.warnings().length === 0);
    expect(logged).to.deep.equal(["book.not-shown", "book.shown-again"]);
  });
});
