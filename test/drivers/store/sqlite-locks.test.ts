import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { openBooks } from "../../../runtime/drivers/books/open-books.ts";
import type { OpenStore } from "../../../runtime/drivers/store/keyv.ts";
import { openSqliteStore } from "../../../runtime/drivers/store/sqlite.ts";
import { createFolder } from "../../support/folder.ts";

/** Removes the log, as other versions of SQLite do when they close a file that nobody else has locked. */
const TAKE = `const db = new (require("node:sqlite").DatabaseSync)(process.argv[1]);
  db.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = TRUNCATE");`;

describe("a store in a file stays locked against a program that would remove its log", () => {
  let folder: string;
  let file: string;
  let store: OpenStore;
  beforeEach(async () => {
    folder = createFolder();
    file = join(folder, "payphone.sqlite");
    store = await openSqliteStore({ file });
    await store.set("a", 1);
  });
  afterEach(() => store.close());

  for (const [what, openAnother] of [
    ["nothing else", undefined],
    ["the book", () => openBooks({ file })],
    ["another store", () => openSqliteStore({ file })],
  ] as const)
    it(`while its process has ${what} open there, too`, async () => {
      const another = await openAnother?.();
      const { status, stderr } = spawnSync(process.execPath, ["-e", TAKE, file], { encoding: "utf8" });
      expect([status, existsSync(`${file}-wal`)]).to.deep.equal([1, true]);
      expect(stderr).to.include("database is locked");
      await store.ping();
      await another?.close();
    });
});
