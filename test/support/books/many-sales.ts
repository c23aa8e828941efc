import { DatabaseSync } from "node:sqlite";
import { type BookEvent, refundId, saleId } from "../../../runtime/core/books/events.ts";
import { sha256 } from "../../../runtime/core/digest.ts";
import { createBookTables } from "../../../runtime/drivers/books/tables.ts";
import { openStore, storeFileOf } from "../../../runtime/drivers/store/open-store.ts";

const YEAR_MS = 365 * 24 * 60 * 60_000;
const SERVICES = ["roll", "datetime", "price", "screen", "report"];
const BATCH = 5000;

const hex = (at: number, length: number): string => (at * 2654435761).toString(16).padStart(length, "0").slice(-length);

const toUuid = (text: string): string =>
  sha256(text).replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-4$3-8$4-$5");

/** Sales of a year, and the refunds of some of them. The same on each call. */
function* makeSales(count: number, from: number): Generator<BookEvent> {
  const step = YEAR_MS / count;
  for (let at = 0; at < count; at += 1) {
    const isYen = at % 10 === 9;
    const job = at % 50 === 0 ? `job-${at}` : null;
    const time = Math.floor(from + at * step);
    const service = SERVICES[at % SERVICES.length] as string;
    const paid = isYen
      ? { network: "eip155:137", asset: "0xe7c3d8c9a439fede00d2600032d5db0be71c3c29", amount: "1000000000000000000" }
      : { network: "eip155:8453", asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", amount: "5000" };
    const payer = `0x${hex(at % 5000, 40)}`;
    yield {
      kind: "sale",
      id: saleId(`payment ${at}`),
      at: time,
      service,
      door: at % 3 === 0 ? "mcp" : "rest",
      ...paid,
      rail: isYen ? "polygon" : "base",
      decimals: isYen ? 18 : 6,
      usd: "0.005",
      payer,
      receiver: `0x${"2".repeat(40)}`,
      transaction: `0x${sha256(`transaction ${at}`)}`,
      requestId: toUuid(`request ${at}`),
      job,
      set: `set${Math.floor(at / 100_000)}`,
      times: {
        begun: time - 300,
        reserved: time - 299,
        verified: time - 290,
        worked: time - 200,
        recorded: time - 199,
      },
    };
    if (job !== null && at % 100 === 0)
      yield {
        kind: "refund",
        id: refundId(job),
        at: time + 60_000,
        job,
        service,
        payer,
        ...paid,
        transaction: `0x${sha256(`refund ${at}`)}`,
      };
  }
}

/** Fills the book of an embedded store that no process uses. */
export async function fillBook(dataDir: string, count: number, from: number): Promise<void> {
  await (await openStore({ dataDir })).close();
  const db = new DatabaseSync(storeFileOf(dataDir));
  db.exec("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 10000; PRAGMA cache_size = -8000");
  const book = createBookTables(db);
  let batch: BookEvent[] = [];
  const take = (): void => {
    db.exec("BEGIN");
    book.take(batch);
    db.exec("COMMIT");
    batch = [];
  };
  for (const event of makeSales(count, from)) if (batch.push(event) === BATCH) take();
  take();
  db.close();
}
