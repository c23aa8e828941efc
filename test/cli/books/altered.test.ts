import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { expect } from "chai";
import { loadSet } from "../../../runtime/cli/set/load.ts";
import { packHex, packId } from "../../../runtime/drivers/books/packing.ts";
import { storeFileOf } from "../../../runtime/drivers/store/open-store.ts";
import { sharedSandbox, type TestSandbox } from "../../support/chains/chains.ts";
import { type Ran, runPayphone } from "../../support/commands/commands.ts";
import { eventually } from "../../support/eventually.ts";
import { createFolder } from "../../support/folder.ts";
import { startLocalSeller } from "../../support/sellers/local-seller.ts";
import { makeProjectShop } from "../../support/sellers/project-shop.ts";
import { json, receiptOf, stockFetch } from "../../support/sellers/stock-buyer.ts";

const RAILS = ["base", "solana", "polygon"] as const;
const SOMEBODY = { evm: `0x${"5".repeat(40)}`, solana: "So11111111111111111111111111111111111111112" };

type Line = Readonly<Record<"id" | "rail" | "payer", string>>;

interface Audited {
  readonly rail: string;
  readonly missing: readonly unknown[];
  readonly altered: readonly {
    readonly id: string;
    readonly what: string;
    readonly booked: string;
    readonly shown: string;
  }[];
}

describe("payphone books verify, on a book that was altered", () => {
  let sandbox: TestSandbox;
  let data: string;
  let started: number;
  /** Of the book, before it is altered. */
  let lines: readonly Line[];
  /** The transaction of the sale on each rail. */
  const sold = new Map<string, string>();
  before(async () => {
    started = Date.now();
    sandbox = await sharedSandbox();
    data = createFolder();
    const set = await loadSet(await makeProjectShop({ services: ["roll"], rails: RAILS }));
    const seller = await startLocalSeller({ sandbox, dataDir: data, set });
    for (const rail of RAILS) {
      const pay = await stockFetch(sandbox, rail);
      sold.set(rail, receiptOf(await pay(`${seller.url}/v1/roll`, json({ low: 1, high: 6 }))).transaction);
    }
    lines = await eventually(readLines, ({ length }) => length === RAILS.length);
    await seller.stop();
  });
  const run = (...args: string[]): Promise<Ran> => runPayphone(args, { ...sandbox.env, PAYPHONE_DATA_DIR: data });
  const readLines = async (): Promise<Line[]> =>
    (await run("sales", "--json")).out
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  const lineOf = (rail: string): Line => lines.find((line) => line.rail === rail) as Line;
  const verify = (...args: string[]): Promise<Ran> =>
    run("books", "verify", "--from", new Date(started).toISOString(), ...args);

  /** Writes another value into a line, and finds what is said of it. */
  async function alter(rail: string, column: "payer" | "nano", value: SQLInputValue): Promise<Audited["altered"]> {
    const { id } = lineOf(rail);
    const db = new DatabaseSync(storeFileOf(data), { timeout: 5000 });
    const write = (one: SQLInputValue): void => {
      db.prepare(`UPDATE book_lines SET ${column} = ? WHERE id = ?`).run(one, packId(id));
    };
    const read = db.prepare(`SELECT ${column} AS value FROM book_lines WHERE id = ?`);
    read.setReadBigInts(true);
    const { value: before = null } = { ...read.get(packId(id)) };
    write(value);
    const { out } = await verify("--rail", rail, "--json");
    write(before);
    db.close();
    return (JSON.parse(out) as Audited).altered;
  }

  it("names a payer who has not paid, on chains of both kinds", async () => {
    for (const rail of RAILS) {
      const { id, payer } = lineOf(rail);
      const other = rail === "solana" ? SOMEBODY.solana : SOMEBODY.evm;
      const transaction = sold.get(rail);
      const [found, ...rest] = await alter(rail, "payer", packHex(other));
      expect({ ...found, shown: found?.shown.toLowerCase() }, rail).to.deep.equal({
        id,
        transaction,
        what: "payer",
        booked: other,
        shown: payer.toLowerCase(),
      });
      expect(rest).to.deep.equal([]);
    }
  });

  it("names a receiver whom nobody has paid", async () => {
    const db = new DatabaseSync(storeFileOf(data), { timeout: 5000 });
    for (const rail of ["base", "solana"]) {
      const other = rail === "solana" ? SOMEBODY.solana : SOMEBODY.evm;
      const { receiver } = { ...db.prepare("SELECT receiver FROM book_terms WHERE rail = ?").get(rail) };
      const write = db.prepare("UPDATE book_terms SET receiver = ? WHERE rail = ?");
      write.run(other, rail);
      const { altered, missing } = JSON.parse((await verify("--rail", rail, "--json")).out) as Audited;
      write.run(receiver as string, rail);
      expect([altered.length, missing], rail).to.deep.equal([1, []]);
      expect(altered[0]).to.deep.include({ what: "receiver", booked: other, shown: receiver });
    }
    db.close();
  });

  it("names a price in dollars that is not the amount, where the token counts dollars", async () => {
    for (const rail of ["base", "solana"]) {
      const [found] = await alter(rail, "nano", 5_000_000_000n);
      expect(found, rail).to.deep.include({ what: "usd", booked: "5", shown: "0.001" });
      const [without] = await alter(rail, "nano", null);
      expect(without, rail).to.deep.include({ what: "usd", booked: "nothing", shown: "0.001" });
    }
  });

  it("says so in words, and with its exit code", async () => {
    const db = new DatabaseSync(storeFileOf(data), { timeout: 5000 });
    db.exec("UPDATE book_lines SET nano = 5000000000");
    db.close();
    const { out, code } = await verify("--rail", "base");
    expect(code).to.equal(1);
    expect(out).to.match(/^ {2}another price in dollars in the book: 5, 0\.001 in 0x[0-9a-f]{64}: sale_[0-9a-f]{20}$/m);
  });
});
