import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { parse, stringify } from "yaml";
import { loadSet } from "../../../runtime/cli/set/load.ts";
import { reversalId, saleId } from "../../../runtime/core/books/events.ts";
import { once } from "../../../runtime/core/once.ts";
import { packHex, packId } from "../../../runtime/drivers/books/packing.ts";
import { keyOf } from "../../../runtime/drivers/books/schema.ts";
import { createBookTables } from "../../../runtime/drivers/books/tables.ts";
import { transact } from "../../../runtime/drivers/books/transactions.ts";
import { storeFileOf } from "../../../runtime/drivers/store/open-store.ts";
import { makeDirectory, ROOT } from "../../core/set/served-directory.ts";
import { toSale } from "../../support/books/sales.ts";
import { openTestSandbox, type TestSandbox } from "../../support/chains/chains.ts";
import { type Fate, startRpcProxy } from "../../support/chains/rpc-proxy.ts";
import { type Ran, runPayphone } from "../../support/commands/commands.ts";
import { eventually } from "../../support/eventually.ts";
import { createFolder } from "../../support/folder.ts";
import { type LocalSeller, startLocalSeller } from "../../support/sellers/local-seller.ts";
import { makeProjectShop } from "../../support/sellers/project-shop.ts";
import { json, type PayingFetch, receiptOf, stockFetch } from "../../support/sellers/stock-buyer.ts";

const ROLL = { low: 1, high: 6 };

interface Row {
  readonly id: string;
  readonly kind: string;
  readonly rail: string;
  readonly amount: string;
  readonly usd: string;
  readonly payer: string;
  readonly transaction: string;
  readonly request_id: string;
}

describe("payphone sales and books verify, with a server on chains", () => {
  let sandbox: TestSandbox;
  let data: string;
  let seller: LocalSeller;
  let started: number;
  before(async () => {
    started = Math.floor(Date.now() / 1000) * 1000; // Blocks have whole seconds: a quick sale is in this one.
    sandbox = await openTestSandbox(); // Its own: the chains have nothing but what this shop has sold.
    data = createFolder();
    const set = await loadSet(await makeProjectShop({ services: ["roll"], rails: ["base", "solana", "polygon"] }));
    seller = await startLocalSeller({ sandbox, dataDir: data, set });
  });
  const stop = once(async () => seller?.stop());
  after(async () => {
    await stop();
    await sandbox?.stop();
  });
  const run = (...args: string[]): Promise<Ran> => runPayphone(args, { ...sandbox.env, PAYPHONE_DATA_DIR: data });
  const verify = (...args: string[]): Promise<Ran> =>
    run("books", "verify", "--from", new Date(started).toISOString(), "--json", ...args);
  const rows = async (...args: string[]): Promise<Row[]> => {
    const { out, err, code } = await run("sales", "--json", ...args);
    expect(code, err).to.equal(0);
    return out
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Row);
  };
  /** Changes the book beside the server: SQLite lets no transaction wait for a lock that has read before it writes. */
  const change = (work: (db: DatabaseSync) => void): void => {
    const db = new DatabaseSync(storeFileOf(data), { timeout: 5000 });
    transact(db, () => work(db));
    db.close();
  };

  it("agree to the atom on every rail, beside the running server", async () => {
    const receipts = new Map<string, string>();
    for (const rail of ["base", "solana", "polygon"] as const) {
      const pay: PayingFetch = await stockFetch(sandbox, rail);
      const response = await pay(`${seller.url}/v1/roll`, json(ROLL, { "x-request-id": `for-${rail}` }));
      expect(response.status, rail).to.equal(200);
      receipts.set(rail, receiptOf(response).transaction);
    }
    // An answer may be there before its line.
    const sold = await eventually(rows, ({ length }) => length === receipts.size);
    const facts = sold.map((line) => [line.rail, line.kind, line.usd, line.transaction, line.request_id]);
    expect(facts).to.deep.equal(
      [...receipts].map(([rail, transaction]) => [rail, "sale", "0.001", transaction, `for-${rail}`]),
    );
    const { out, err, code } = await verify();
    expect([code, err], out).to.deep.equal([0, ""]);
    const audits = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    for (const { rail, sales, booked, received, missing, not_in_book } of audits) {
      expect([sales, missing.length, not_in_book.length], `${rail}: ${out}`).to.deep.equal([1, 0, 0]);
      expect(received).to.equal(booked);
    }
    const { out: text } = await run("books", "verify", "--from", new Date(started).toISOString(), "--rail", "base");
    expect(text).to.match(/^base: 1 sale, 0\.001 USDC in the book, 0\.001 USDC of it on the chain$/m);
  });

  it("name a transfer by other means, and call it no fault", async () => {
    await sandbox.usdc.mint(sandbox.env.BASE_PAYMENT_ADDRESS as `0x${string}`, 7n);
    const { out, code } = await verify("--rail", "base");
    const { by_other_means: others } = JSON.parse(out);
    expect(code, out).to.equal(0);
    expect(others.map(({ amount }: { amount: string }) => amount)).to.include("7");
  });

  it("say of which sale, taken back in the book, the chain shows more", async () => {
    const [{ id, transaction } = {} as Row] = await rows("--rail", "base");
    const sale = id as string;
    const reversal = { kind: "reversal", id: reversalId("reversal", sale), at: Date.now(), sale } as const;
    change((db) => createBookTables(db).take([reversal]));
    const { out, code } = await run("books", "verify", "--from", new Date(started).toISOString(), "--rail", "base");
    expect(code, out).to.equal(1);
    expect(out).to.include(`more on the chain: 0 USDC in the book, 0.001 USDC in ${transaction}: ${sale}`);
    change((db) => db.prepare("DELETE FROM book_lines WHERE id = ?").run(packId(reversal.id)));
    expect((await verify()).code).to.equal(0);
  });

  it("say which sale the chain does not show, and which payment the book does not have", async () => {
    const [first] = await rows("--rail", "base");
    const { id } = first as Row;
    const setTransaction = (db: DatabaseSync, transaction: string): void => {
      db.prepare("UPDATE book_lines SET tx = ? WHERE id = ?").run(packHex(transaction), packId(id as string));
      db.exec(`INSERT OR IGNORE INTO book_keys SELECT 0, ${keyOf("tx")}, seq FROM book_lines WHERE tx IS NOT NULL`);
    };
    change((db) => setTransaction(db, `${String((first as Row).transaction).slice(0, -4)}abcd`));
    const { out, code } = await verify("--rail", "base");
    const { missing, not_in_book: unbooked } = JSON.parse(out);
    expect(code).to.equal(1);
    expect(missing[0].ids).to.deep.equal([id]);
    expect(unbooked.map(({ transaction }: Row) => transaction)).to.include((first as Row).transaction);
    const transaction = (first as Row).transaction;
    const receiver = sandbox.env.BASE_PAYMENT_ADDRESS as string;
    const second = { id: saleId("a second sale of one transfer"), at: Date.now(), asset: sandbox.usdc.address };
    change((db) => {
      setTransaction(db, transaction);
      createBookTables(db).take([toSale({ ...second, receiver, transaction })]);
    });
    const again = await verify("--rail", "base");
    expect(JSON.parse(again.out).missing[0]).to.include({ booked: "2000", shown: "1000" });
    change((db) => db.prepare("DELETE FROM book_lines WHERE id = ?").run(packId(second.id)));
    expect((await verify()).code).to.equal(0);
  });

  it("name a sale whose transaction is none, and payments that are lost from the book, on chains of both kinds", async () => {
    const [base, solana] = [await rows("--rail", "base"), await rows("--rail", "solana")].flat() as [Row, Row];
    const tx = packHex(base.transaction);
    const setTransaction = (of: string, transaction: typeof tx): void =>
      change((db) => db.prepare("UPDATE book_lines SET tx = ? WHERE id = ?").run(transaction, packId(of)));
    const toRubbish = (from: string, to: string): void =>
      change((db) => db.prepare("UPDATE book_terms SET receiver = ? WHERE receiver = ?").run(to, from));
    toRubbish(sandbox.env.BASE_PAYMENT_ADDRESS as string, "rubbish");
    setTransaction(base.id, null);
    setTransaction(solana.id, "nothing");
    const { out, code } = await verify();
    const audits = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(code).to.equal(1);
    expect(audits.map(({ rail, missing, not_in_book: lost }) => [rail, missing.length, lost.length])).to.deep.equal([
      ["base", 1, 1],
      ["solana", 1, 1],
      ["polygon", 0, 0],
    ]);
    toRubbish("rubbish", sandbox.env.BASE_PAYMENT_ADDRESS as string);
    setTransaction(base.id, tx);
    setTransaction(solana.id, solana.transaction);
    expect((await verify()).code).to.equal(0);
  });

  it("compare the other rails where a node lacks a block, refuses or answers nonsense, and never call that equal", async () => {
    const node = await startRpcProxy(sandbox.env.BASE_RPC_URL as string);
    const answer = (said: object): object => ({
      status: 200,
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...said }),
    });
    const faults = [
      ["eth_getBlockByNumber", { result: null }],
      ["eth_getBlockByNumber", { result: {} }],
      ["eth_getLogs", { result: null }],
      ["eth_getLogs", { error: { code: -32601, message: "the method eth_getLogs is not available" } }],
    ] as const;
    for (const [asked, said] of faults) {
      node.intervene((method) => (method === asked ? (answer(said) as Fate) : "pass"));
      const env = { ...sandbox.env, PAYPHONE_DATA_DIR: data, BASE_RPC_URL: node.url };
      const { out, err, code } = await runPayphone(["books", "verify"], env);
      expect(err, asked).to.match(/^base: not compared: The node of Base does not tell its transfers: .+\n$/);
      expect([code, out.match(/^\w+(?=:)/gm)], out).to.deep.equal([1, ["solana", "polygon"]]);
    }
    await node.stop();
  });

  it("compare the sales of a rail that was renamed, and name those of one that was removed", async () => {
    const text = await readFile(join(ROOT, "manifests/_site.yaml"), "utf8");
    const { rails, ...site } = parse(text) as { readonly rails: readonly { readonly id: string }[] };
    const renamed = rails.filter(({ id }) => id === "base").map((rail) => ({ ...rail, id: "main" }));
    const dir = await makeDirectory({ "manifests/_site.yaml": stringify({ ...site, rails: renamed }) });
    const { out, err, code } = await verify("--dir", dir);
    const { rail, sales } = JSON.parse(out);
    expect([rail, sales]).to.deep.equal(["main", 1]);
    const removed = err.match(/^\w+: not compared: the site has no rail of this token, and the book has sales/gm);
    expect([code, removed?.length], err).to.deep.equal([1, 2]);
    const one = await verify("--dir", dir, "--rail", "main");
    expect([one.code, one.err]).to.deep.equal([0, ""]);
    const none = await verify("--rail", "Solana");
    const told = 'payphone: The site has no rail "Solana": it has base, solana, polygon\n';
    expect([none.code, none.err]).to.deep.equal([2, told]);
  });

  it("compare no more days than the book keeps", async () => {
    const site = await readFile(join(ROOT, "manifests/_site.yaml"), "utf8");
    const dir = await makeDirectory({ "manifests/_site.yaml": `${site}\nbooks: { keep_days: 1 }\n` });
    const { out, err, code } = await run("books", "verify", "--dir", dir, "--from", "2025-01-01", "--rail", "polygon");
    expect([code, err], out).to.deep.equal([0, "books.keep_days is 1: earlier sales are not compared\n"]);
    const old = ["--from", "2025-01-01", "--to", "2025-01-31"];
    const forgotten = await run("books", "verify", "--dir", dir, ...old, "--rail", "polygon");
    expect([forgotten.code, forgotten.out], forgotten.err).to.deep.equal([2, ""]);
    expect(forgotten.err).to.include("books.keep_days is 1: the book has nothing of this span any more");
  });

  it("refuse a span that is none, and say which time is missing", async () => {
    const future = new Date(Date.now() + 3_600_000).toISOString();
    for (const [args, told] of [
      [["--from", "2025-01-31", "--to", "2025-01-01"], "--from must be before --to"],
      [["--to", "2025-01-01"], "Without --from the last 24 hours are compared: name a --from before --to"],
      [["--from", future], "--from must not be in the future"],
    ] as const) {
      const { err, code } = await run("books", "verify", ...args);
      expect([code, err]).to.deep.equal([2, `payphone: ${told}\n`]);
    }
  });

  it("answer the same on the data directory of a server that has stopped", async () => {
    const before = await rows();
    await stop();
    expect(await rows()).to.deep.equal(before);
    const { out } = await run("sales", "show", "for-solana");
    expect(out).to.match(/begun[\s\S]*reserved[\s\S]*verified[\s\S]*worked[\s\S]*recorded[\s\S]*settled/);
    const { code, err } = await run("sales", "show", "nothing");
    expect([code, err.trim()]).to.deep.equal([1, "payphone: The book has nothing with nothing"]);
  });
});
