import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { saleId } from "../../../runtime/core/books/events.ts";
import { openBooks } from "../../../runtime/drivers/books/open-books.ts";
import { createFolder } from "../../support/folder.ts";

/** The tables of the first form, and what a shop had in them. */
const FIRST_FORM = `
  CREATE TABLE book_terms (
    id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE, service TEXT NOT NULL, door TEXT, rail TEXT NOT NULL,
    network TEXT NOT NULL, asset TEXT NOT NULL, decimals INTEGER, receiver TEXT, set_digest TEXT
  ) STRICT;
  CREATE TABLE book (
    seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, sale TEXT, at INTEGER NOT NULL,
    terms INTEGER NOT NULL, amount TEXT NOT NULL, nano INTEGER, payer TEXT, tx TEXT NOT NULL, request TEXT, job TEXT, times TEXT
  ) STRICT;
  CREATE INDEX book_at ON book (at);
  CREATE INDEX book_payer ON book (payer, at) WHERE payer IS NOT NULL;
  CREATE TABLE book_hours (hour INTEGER, terms INTEGER, kind TEXT, count INTEGER) STRICT;
  CREATE TABLE book_days (day INTEGER, terms INTEGER, kind TEXT, count INTEGER) STRICT;
  CREATE TABLE book_buyers (
    payer TEXT PRIMARY KEY, first_at INTEGER NOT NULL, last_at INTEGER NOT NULL, count INTEGER NOT NULL, nano INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE book_tallies (
    minute INTEGER NOT NULL, service TEXT NOT NULL, door TEXT NOT NULL, rail TEXT NOT NULL, what TEXT NOT NULL,
    count INTEGER NOT NULL, PRIMARY KEY (minute, service, door, rail, what)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE book_place (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;`;

const HEX_PAYER = `0x${"ab".repeat(20)}`;
const TX = `0x${"cd".repeat(32)}`;
const SOLANA_TX = "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW";
const UUID = "0f8fad5b-d9cb-469f-a165-70867728950e";
const T = Date.UTC(2026, 0, 31, 23, 59, 59, 999);
const SALES = [saleId("one"), saleId("two")] as const;
const back = (kind: string): string => `${kind}_${SALES[1].slice(5)}`;
const TIMES = { begun: T - 300, reserved: T - 299, worked: T - 20 };

function writeFirstForm(file: string): void {
  const db = new DatabaseSync(file);
  db.exec(FIRST_FORM);
  const terms = ["report", "mcp", "base", "eip155:8453", "0xUSDC", 6, "0xEE", "set-1"];
  db.prepare("INSERT INTO book_terms VALUES (7, ?, ?, ?, ?, ?, ?, ?, ?, ?)").run(JSON.stringify(terms), ...terms);
  const line = db.prepare("INSERT INTO book VALUES (?, ?, ?, ?, ?, 7, ?, ?, ?, ?, ?, ?, ?)");
  const times = JSON.stringify(TIMES);
  line.run(5, SALES[0], "sale", null, T, "1000000000000000000001", 5_000_000n, HEX_PAYER, TX, UUID, "job-1", times);
  line.run(6, SALES[1], "sale", null, T + 1, "1000", 1_000_000n, "SoLpayer", SOLANA_TX, "order 7", null, null);
  line.run(8, "refund_1", "refund", SALES[0], T + 2, "999", 5_000_000n, HEX_PAYER, "0xback", UUID, "job-1", null);
  for (const [at, kind] of ["reversal", "restoration"].entries())
    line.run(
      9 + at,
      back(kind),
      kind,
      SALES[1],
      T + 3,
      "1000",
      1_000_000n,
      "SoLpayer",
      SOLANA_TX,
      "order 7",
      null,
      null,
    );
  db.prepare("INSERT INTO book_buyers VALUES (?, ?, ?, 12, 60000000)").run(HEX_PAYER, 1000, T + 2);
  for (const at of [0, 59, 60])
    db.prepare("INSERT INTO book_tallies VALUES (?, 'report', 'mcp', '', 'challenge', 2)").run(at);
  db.close();
}

describe("a book whose tables have their first form", () => {
  const folder = createFolder();
  const file = join(folder, "payphone.sqlite");
  before(() => writeFirstForm(file));

  it("is taken over when it is opened, without a loss", async () => {
    // Two open it at the same time.
    const [books, other] = await Promise.all([openBooks({ file }), openBooks({ file })]);
    const lines = books.since(0, 9);
    expect(other.since(0, 9)).to.deep.equal(lines);
    const terms = {
      service: "report",
      door: "mcp",
      rail: "base",
      network: "eip155:8453",
      asset: "0xUSDC",
      decimals: 6,
    };
    const [sale] = lines;
    expect(sale).to.deep.equal({
      seq: 1,
      id: SALES[0],
      kind: "sale",
      of: null,
      at: T,
      ...terms,
      amount: "1000000000000000000001",
      usd: "0.005",
      payer: HEX_PAYER,
      receiver: "0xEE",
      transaction: TX,
      requestId: UUID,
      job: "job-1",
      set: "set-1",
      times: TIMES,
    });
    expect(
      lines.map(({ kind, of, at, amount, payer, requestId }) => [kind, of, at, amount, payer, requestId]),
    ).to.deep.equal([
      ["sale", null, T, "1000000000000000000001", HEX_PAYER, UUID],
      ["sale", null, T + 1, "1000", "SoLpayer", "order 7"],
      ["refund", SALES[0], T + 2, "999", HEX_PAYER, UUID],
      ["reversal", SALES[1], T + 3, "1000", "SoLpayer", "order 7"],
      ["restoration", SALES[1], T + 3, "1000", "SoLpayer", "order 7"],
    ]);
    for (const text of [TX, SOLANA_TX, UUID, "order 7", "job-1"]) expect(books.find(text), text).not.to.have.length(0);
    const sums = books.sums({ from: T - 1, to: T + 9 }, { own: [], by: ["door"] });
    expect(sums.map(({ kind, count, door }) => [kind, count, door])).to.have.deep.members([
      ["sale", 2, "mcp"],
      ["refund", 1, "mcp"],
      ["reversal", 1, "mcp"],
      ["restoration", 1, "mcp"],
    ]);
    const [most] = books.buyers(1);
    expect(most, "with what was forgotten since").to.deep.equal({
      payer: HEX_PAYER,
      firstAt: 1000,
      lastAt: T + 2,
      count: 12,
      nanoUsd: 60_000_000n,
    });
    const counts = [0, 1].map((hour) => books.tallies({ from: hour * 3_600_000, to: (hour + 1) * 3_600_000 }));
    expect(counts.map((sums) => sums.map(({ count }) => count))).to.deep.equal([[4], [2]]);
    expect(books.feeSums({ from: 0, to: T + 1 }), "nobody knew of fees then").to.deep.equal([]);
    await Promise.all([books.close(), other.close()]);
  });

  it("is taken over, too, where it has no sums of days, which the first of these versions did not keep", async () => {
    const older = join(folder, "older.sqlite");
    writeFirstForm(older);
    const db = new DatabaseSync(older);
    db.exec("DROP TABLE book_days");
    db.close();
    const books = await openBooks({ file: older });
    expect(books.since(0, 9)).to.have.length(5);
    await books.close();
  });
});
