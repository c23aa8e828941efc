import fs, { renameSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import type { OpenStore } from "../../runtime/drivers/store/keyv.ts";
import { openSqliteStore } from "../../runtime/drivers/store/sqlite/sqlite.ts";
import { createFolder } from "../support/folder.ts";
import { openShop, ROLL, type Shop } from "../support/sellers/shop.ts";
import { damagePage } from "../support/store/damage.ts";
import { createMemoryStore } from "../support/store/memory-store.ts";
import { expectUnavailable } from "../support/store/probes.ts";

describe("a paid request, while another process holds the store's lock", () => {
  const data = createFolder();
  const file = `${data}/payphone.sqlite`;
  let store: OpenStore;
  let other: DatabaseSync;
  let shop: Shop;
  before(async () => {
    store = await openSqliteStore({ file });
    other = new DatabaseSync(file);
    shop = await openShop({ store: { ...store, entries: createMemoryStore().entries } });
  });
  after(async () => {
    await shop.close();
    await store.close();
    other.close();
  });
  const send = (payment: string): Promise<Response> => shop.post("/v1/roll", ROLL, { "payment-signature": payment });

  it("fails closed at its reservation: 503, nothing run, nobody asked", async () => {
    const payment = await shop.pay("/v1/roll");
    other.exec("BEGIN EXCLUSIVE");
    const response = await send(payment);
    other.exec("ROLLBACK");
    expect(response.status).to.equal(503);
    expect(await response.json()).to.have.property("code", "unavailable");
    expect(shop.executions).to.equal(0);
    expect(shop.rail.asked).to.include({ verify: 0, settle: 0 });
    expect((await shop.retry("/v1/roll", ROLL, payment)).status, "the payment is still good").to.equal(200);
  });

  it("is not settled when its result cannot be put on record, and is charged once in the end", async () => {
    const payment = await shop.pay("/v1/roll");
    const settled = shop.rail.asked.settle;
    shop.handler = () => {
      other.exec("BEGIN EXCLUSIVE");
      return { value: 1 };
    };
    const response = await send(payment);
    expect(response.status).to.equal(503);
    expect(response.headers.get("retry-after")).to.match(/^\d+$/);
    expect(shop.rail.asked.settle).to.equal(settled);
    other.exec("ROLLBACK");
    shop.handler = undefined;
    expect((await shop.retry("/v1/roll", ROLL, payment)).status).to.equal(200);
    expect(shop.rail.asked.settle).to.equal(settled + 1);
  });
});

const { fdatasync } = fs;

/** Lets the disk refuse every sync from now on, until `allowSyncs`. */
function refuseSyncs(): void {
  const refuse = (_descriptor: number, done: (error: Error) => void): void => done(new Error("EIO"));
  fs.fdatasync = refuse as typeof fdatasync;
  syncBuiltinESMExports();
}

function allowSyncs(): void {
  fs.fdatasync = fdatasync;
  syncBuiltinESMExports();
}

describe("a paid request, while the store's file was moved away, or its disk fails", () => {
  const data = createFolder();
  const file = `${data}/payphone.sqlite`;
  const away = `${file}-away`;
  let store: OpenStore;
  let shop: Shop;
  before(async () => {
    store = await openSqliteStore({ file });
    shop = await openShop({ store: { ...store, entries: createMemoryStore().entries } });
  });
  afterEach(allowSyncs);
  after(async () => {
    await shop.close();
    await store.close();
  });
  const pinged = (): Promise<string> =>
    store.ping().then(
      () => "up",
      (error: Error) => error.message,
    );

  it("is refused before anything is verified, and is charged once the file is back", async () => {
    const payment = await shop.pay("/v1/roll");
    renameSync(file, away);
    await sleep(20); // The store looks for its files every 10 ms.
    const response = await shop.post("/v1/roll", ROLL, { "payment-signature": payment });
    expect(response.status).to.equal(503);
    expect(await response.json()).to.have.property("code", "unavailable");
    expect(shop.rail.asked).to.include({ verify: 0, settle: 0 });
    expect(await pinged()).to.match(/payphone.sqlite was removed or replaced while it was open$/);
    renameSync(away, file);
    expect(await pinged()).to.equal("up");
    expect((await shop.retry("/v1/roll", ROLL, payment)).status).to.equal(200);
    expect(shop.rail.asked.settle).to.equal(1);
  });

  it("is not settled while its record is not on the disk, since a restart would know nothing of it", async () => {
    const payment = await shop.pay("/v1/roll");
    const settled = shop.rail.asked.settle;
    refuseSyncs();
    for (let time = 0; time < 2; time += 1) {
      const response = await shop.post("/v1/roll", ROLL, { "payment-signature": payment });
      expect(response.status).to.equal(503);
      expect(await response.json()).to.have.property("code", "settlement-unknown");
      expect(shop.rail.asked.settle, "the record can be read, but a restart would not find it").to.equal(settled);
    }
    allowSyncs();
    expect((await shop.retry("/v1/roll", ROLL, payment)).status).to.equal(200);
    expect(shop.rail.asked.settle).to.equal(settled + 1);
  });
});

describe("a paid request, once the store has met a damaged page of its file", () => {
  const CASES: Readonly<Record<string, (store: OpenStore, shop: Shop) => Promise<unknown>>> = {
    entries: (store) => store.get("a:0").catch(() => {}),
    book_lines: (_, shop) => shop.buy("/v1/roll", ROLL),
  };
  for (const [table, meet] of Object.entries(CASES))
    it(`is refused uncharged, and the operator is told: ${table}`, async () => {
      const file = `${createFolder()}/payphone.sqlite`;
      const former = await openSqliteStore({ file });
      await Promise.all(Array.from({ length: 200 }, (_, at) => former.set(`a:${at}`, "0".repeat(1000))));
      await former.close();
      damagePage(file, table);
      const told: string[] = [];
      const tell = (event: string): void => void told.push(event);
      const store = await openSqliteStore({ file, log: { info: tell, warn: tell, error: tell } });
      const shop = await openShop({ store: { ...store, entries: createMemoryStore().entries } });
      const payment = await shop.pay("/v1/roll");
      await meet(store, shop);
      const { settle } = shop.rail.asked;
      const response = await shop.post("/v1/roll", ROLL, { "payment-signature": payment });
      expect([response.status, shop.rail.asked.settle]).to.deep.equal([503, settle]);
      expect(await response.json()).to.have.property("code", "unavailable");
      expect((await expectUnavailable(store.ping())).message).to.match(/^The store takes no writes: .* malformed$/);
      expect(told.filter((event) => event === "store.broken")).to.have.length(1);
      await shop.close();
      await store.close();
    });
});
