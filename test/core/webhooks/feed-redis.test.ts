import { createServer, type Server } from "node:http";
import { join } from "node:path";
import { expect } from "chai";
import { createBookAccess } from "../../../runtime/cli/monitor/book-access.ts";
import type { SaleEvent } from "../../../runtime/core/books/events.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import { createBookFeed } from "../../../runtime/core/webhooks/book-feed.ts";
import { createDeliveries } from "../../../runtime/core/webhooks/deliveries.ts";
import { createOutbox } from "../../../runtime/core/webhooks/outbox.ts";
import { openStore } from "../../../runtime/drivers/store/open-store.ts";
import { createPostWebhook } from "../../../runtime/drivers/webhooks/post.ts";
import { closeServer, listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";
import { toSale } from "../../support/books/sales.ts";
import { eventually } from "../../support/eventually.ts";
import { createFolder } from "../../support/folder.ts";
import { withRedis } from "../../support/programs.ts";
import { startRedis, type TestRedis } from "../../support/store/redis.ts";

interface Machine {
  sell(sale: SaleEvent): Promise<void>;
  kill(): Promise<void>;
  close(): Promise<void>;
}

const SECRET = `whsec_${Buffer.alloc(24, "r").toString("base64")}`;
const HOUR_MS = 3_600_000;
/** How many events a machine sends to a receiver at the same time. */
const CONCURRENT = 4;

withRedis.describe("webhooks of machines that share a book in Redis", () => {
  const folder = createFolder();
  /** How often each event was taken. */
  const taken = new Map<string, number>();
  const open: Machine[] = [];
  let redis: TestRedis;
  let server: Server;
  let url: string;
  let isDown = false;
  let refused = 0;
  let shiftMs = 0;
  const clock = { now: () => Date.now() + shiftMs };

  before(async () => {
    redis = await startRedis();
    server = createServer(({ headers }, response) => {
      const id = String(headers["webhook-id"]);
      if (isDown) refused += 1;
      else taken.set(id, (taken.get(id) ?? 0) + 1);
      response.writeHead(isDown ? 503 : 204).end();
    });
    url = await listenOnLoopback(server);
  });
  after(async () => {
    for (const machine of open) await machine.close();
    await closeServer(server);
    await redis.stop();
  });

  /** A machine with a copy of the book of its own. */
  async function start(name: string): Promise<Machine> {
    const dataDir = join(folder, name);
    const store = await openStore({ dataDir, redisUrl: redis.url });
    const books = createBookAccess({ dataDir, redisUrl: redis.url });
    const endpoints = [{ id: "books" }];
    const post = createPostWebhook({ targets: new Map([["books", { url, secrets: [SECRET] }]]), clock });
    const shared = { endpoints, store, clock, log: silentLog };
    const outbox = createOutbox({ ...shared, post, sweepMs: 20 });
    const feed = createBookFeed({
      ...shared,
      openBooks: books.open,
      outbox,
      deliveries: createDeliveries(store),
      everyMs: 20,
    });
    outbox.start();
    feed.start();
    const machine: Machine = {
      sell: (sale: SaleEvent) => store.enter(sale, { key: `payment:${sale.id}`, value: 1 }),
      // As a killed process: its connection is gone, its leases are not given back.
      async kill() {
        open.splice(open.indexOf(machine), 1);
        await store.close();
        await feed.close();
        await outbox.close();
        await books.close();
      },
      async close() {
        await feed.close();
        await outbox.close();
        await books.close();
        await store.close();
      },
    };
    open.push(machine);
    return machine;
  }
  const times = (sales: readonly SaleEvent[]) => sales.map(({ id }) => taken.get(id) ?? 0);
  const once = (sales: readonly SaleEvent[]): number[] => sales.map(() => 1);
  const makeSales = (count: number): SaleEvent[] => Array.from({ length: count }, () => toSale());

  it("tell of each sale, through an outage of the receiver and the death of a machine, and twice only of what the machine was sending", async () => {
    const machines = [await start("one"), await start("two"), await start("three")] as const;
    await eventually(async () => {
      await machines[0].sell(toSale()); // What was sold before a receiver was known is not told.
      return taken.size > 0;
    });
    const sales = makeSales(30);
    isDown = true;
    await Promise.all(sales.map((sale, at) => machines[at % 3]?.sell(sale)));
    await eventually(() => refused > 3);
    await machines[1].kill();
    isDown = false;
    shiftMs = 2 * HOUR_MS; // What waits for its next attempt is due.
    await eventually(() => times(sales).every((count) => count > 0));
    const all = times(sales).reduce((sum, count) => sum + count, 0);
    expect(all, "the machine may have died between telling and noting it").to.be.within(30, 30 + CONCURRENT);
  });

  it("go on where another one stopped, also with a copy that is made anew and numbered otherwise", async () => {
    for (const machine of [...open]) await machine.close();
    open.splice(0);
    const store = await openStore({ dataDir: folder, redisUrl: redis.url });
    await store.forget(Date.now(), 0); // The line where the others stopped is forgotten, too.
    const later = makeSales(5);
    for (const sale of later) await store.enter(sale, { key: `payment:${sale.id}`, value: 1 });
    await store.close();
    const before = new Map(taken);
    await start("four");
    await eventually(() => times(later).every((count) => count > 0));
    expect(times(later)).to.deep.equal(once(later));
    for (const [id, count] of before) expect(taken.get(id), id).to.equal(count);
  });
});
