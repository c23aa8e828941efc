import { join } from "node:path";
import { expect } from "chai";
import type { BookLine } from "../../../runtime/core/books/books.ts";
import type { SaleEvent } from "../../../runtime/core/books/events.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import { type BookFeed, createBookFeed, toBookEvent } from "../../../runtime/core/webhooks/book-feed.ts";
import { openBooks } from "../../../runtime/drivers/books/open-books.ts";
import { openStore, storeFileOf } from "../../../runtime/drivers/store/open-store.ts";
import { T, toSale } from "../../support/books/sales.ts";
import { eventually } from "../../support/eventually.ts";
import { createFolder } from "../../support/folder.ts";
import { damage } from "../../support/store/damage.ts";

describe("the book that receivers of webhooks are told of", () => {
  const folder = createFolder();
  let dataDir: string;
  let store: Awaited<ReturnType<typeof openStore>>;
  let books: Awaited<ReturnType<typeof openBooks>>;
  let feed: BookFeed;
  let told: string[];
  let opened: PromiseWithResolvers<typeof books>;
  /** How many messages wait, and how often they were counted. */
  let waiting: number;
  let counts: number;
  let looks: number;
  let logged: string[];
  let made = 0;

  beforeEach(async () => {
    made += 1;
    dataDir = join(folder, `${made}`);
    store = await openStore({ dataDir });
    books = await openBooks({ file: storeFileOf(dataDir) });
    [told, waiting, counts, looks, logged] = [[], 0, 0, 0, []];
    opened = Promise.withResolvers();
    feed = open("accounts");
  });

  const open = (...ids: string[]): BookFeed =>
    createBookFeed({
      endpoints: ids.map((id) => ({ id })),
      openBooks: () => {
        looks += 1;
        return opened.promise;
      },
      outbox: { publishTo: async (_endpoint, { id }) => void told.push(id) },
      deliveries: {
        async *list() {
          counts += 1;
          yield* Array.from({ length: waiting }, (_, at) => `accounts:${at}`);
        },
      },
      store,
      clock: { now: () => T },
      log: { ...silentLog, warn: (event) => void logged.push(event) },
      everyMs: 1,
    });
  afterEach(async () => {
    await feed.close();
    await books.close();
    await store.close();
  });

  /** @returns when the feed has taken its first look */
  async function begin(): Promise<void> {
    feed.start();
    opened.resolve(books);
    await eventually(() => store.get("webhook-cursor:accounts"));
  }
  const sell = async (...sales: SaleEvent[]): Promise<void> => {
    for (const sale of sales) await store.enter(sale, { key: sale.id, value: 1 });
  };
  const until = ({ id }: SaleEvent): Promise<boolean> => eventually(() => told.includes(id));

  it("is told to the others where one receiver's position is damaged, and the seller is told so once", async () => {
    feed = open("cut", "accounts");
    damage(dataDir, "webhook-cursor:cut");
    await begin();
    const sale = toSale({ at: T + 1 });
    await sell(sale);
    await until(sale);
    expect([told, logged]).to.deep.equal([[sale.id], ["webhook.feed-failed"]]);
  });

  it("is told from the start of a new receiver, also of what is sold while the book is opened", async () => {
    const [before, first, second] = [toSale({ at: T - 1 }), toSale(), toSale({ at: T + 1 })];
    await sell(before);
    feed.start();
    await sell(first, second);
    opened.resolve(books);
    await until(second);
    expect(told).to.deep.equal([first.id, second.id]);
  });

  it("is not told from its beginning when a buyer gives many calls the id of a later sale", async () => {
    await begin();
    const [named, last] = [toSale(), toSale()]; // The id of a sale follows from its payment, which the buyer makes.
    const others = Array.from({ length: 210 }, () => toSale({ requestId: named.id }));
    await sell(...others, named);
    await until(named);
    await sell(last);
    await until(last);
    expect(told).to.deep.equal([...others, named, last].map(({ id }) => id));
    expect(books.find(named.id).map(({ id }) => id)).to.include(named.id);
  });

  it("does not keep a shop that closes waiting for a book that is still being copied", async () => {
    const asked = Promise.withResolvers<void>();
    const refresh = (): Promise<void> => {
      asked.resolve();
      return new Promise(() => {});
    };
    opened.resolve({ ...books, refresh });
    feed.start();
    await asked.promise;
    await feed.close();
    expect(logged).to.deep.equal([]);
  });

  it("logs once that the book cannot be read, until it could be", async () => {
    const fail = async (): Promise<void> => {
      opened.promise.catch(() => {});
      opened.reject(new Error("gone"));
      const enough = looks + 4;
      await eventually(() => looks >= enough);
    };
    feed.start();
    await fail();
    expect(logged).to.deep.equal(["webhook.feed-failed"]);
    opened = Promise.withResolvers();
    opened.resolve(books);
    const enough = looks + 3;
    await eventually(() => looks >= enough);
    opened = Promise.withResolvers();
    await fail();
    expect(logged).to.deep.equal(["webhook.feed-failed", "webhook.feed-failed"]);
  });

  it("waits while a thousand messages wait, which are not counted after each sale, but now and then", async () => {
    await begin();
    waiting = 1000;
    const [first, ...others] = Array.from({ length: 20 }, () => toSale()) as [SaleEvent, ...SaleEvent[]];
    await sell(first);
    await eventually(() => counts >= 3);
    expect(told).to.deep.equal([]);
    waiting = 999;
    await until(first);
    counts = 0;
    for (const sale of others) {
      await sell(sale);
      await until(sale);
    }
    expect([told.length, counts]).to.deep.equal([20, 0]);
    waiting = 1000;
    await sell(...Array.from({ length: 300 }, () => toSale()));
    await eventually(() => counts >= 3); // After a hundred lines, or two pages at most.
    expect(told.length).to.be.below(320);
  });
});

describe("a line of the book, as receivers of webhooks read it", () => {
  it("has the type of its kind, the terms, and the id of its sale where it is none itself", () => {
    const line: BookLine = { ...toSale({ job: "job-1" }), seq: 1, of: null, times: null };
    const { id, at, service, door, rail, network, asset, decimals, amount, usd, payer, receiver, transaction } = line;
    const money = { network, asset, decimals, amount, usd, payer, receiver, transaction };
    const told = { id, service, door, rail, ...money, request_id: line.requestId, job_id: "job-1" };
    expect(toBookEvent(line)).to.deep.equal({ id, type: "sale", at, data: told });
    const types = { refund: "refund", reversal: "sale.reversed", restoration: "sale.restored" };
    for (const [kind, type] of Object.entries(types)) {
      const later = { ...line, kind, id: "later", of: line.id } as BookLine;
      const data = { ...told, id: "later", sale: line.id };
      expect(toBookEvent(later)).to.deep.equal({ id: "later", type, at, data });
    }
  });
});
