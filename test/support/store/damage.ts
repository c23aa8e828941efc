import { closeSync, openSync, writeSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { storeFileOf } from "../../../runtime/drivers/store/open-store.ts";

/** Overwrites a record of an embedded store past the store itself. @param text default: the stored text, cut short */
export function damage(dataDir: string, key: string, text?: string): void {
  const db = new DatabaseSync(storeFileOf(dataDir), { timeout: 5000 });
  db.prepare("INSERT OR IGNORE INTO entries (key, value) VALUES (?, '{\"cut\":')").run(key);
  if (text === undefined) db.prepare("UPDATE entries SET value = substr(value, 1, 7) WHERE key = ?").run(key);
  else db.prepare("UPDATE entries SET value = ? WHERE key = ?").run(text, key);
  db.close();
}

/** Writes zeros over the first leaf of a table or an index in a file that nobody has open. */
export function damagePage(file: string, table: string): void {
  const db = new DatabaseSync(file);
  const find = db.prepare(
    "SELECT pgoffset, pgsize FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path LIMIT 1",
  );
  const { pgoffset, pgsize } = find.get(table) as { pgoffset: number; pgsize: number };
  db.close();
  const opened = openSync(file, "r+");
  writeSync(opened, Buffer.alloc(pgsize), 0, pgsize, pgoffset);
  closeSync(opened);
}
