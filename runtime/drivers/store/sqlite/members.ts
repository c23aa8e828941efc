import type { DatabaseSync } from "node:sqlite";
import type { Tally } from "../../../core/store.ts";

/**
 * A separate table, because members come and go with each call: it has few pages, and one row to write instead of
 * three.
 */
export const MEMBER_TABLE = `
  CREATE TABLE IF NOT EXISTS members (
    key TEXT NOT NULL, member TEXT NOT NULL, weight INTEGER NOT NULL, expires INTEGER NOT NULL, PRIMARY KEY (key, member)
  ) STRICT, WITHOUT ROWID;`;

/**
 * The members that are counted under each key. Call the methods inside a transaction. Expired members are not counted.
 */
export interface MemberTable {
  /** @param expires Unix milliseconds @returns the tally, this member included */
  join(key: string, member: string, weight: number, expires: number): Tally;
  leave(key: string, member: string): void;
  /** Deletes expired members. */
  sweep(): void;
}

/** Prepares the statements. @param now Unix milliseconds */
export function createMemberTable(db: DatabaseSync, now: () => number): MemberTable {
  const join = db.prepare(
    `INSERT INTO members (key, member, weight, expires) VALUES (?, ?, ?, ?)
     ON CONFLICT (key, member) DO UPDATE SET weight = excluded.weight, expires = excluded.expires`,
  );
  const tally = db.prepare("SELECT count(*), coalesce(sum(weight), 0) FROM members WHERE key = ? AND expires > ?");
  tally.setReturnArrays(true);
  const leave = db.prepare("DELETE FROM members WHERE key = ? AND member = ?");
  const sweep = db.prepare("DELETE FROM members WHERE expires <= ?");
  return {
    join(key, member, weight, expires) {
      join.run(key, member, weight, expires);
      const [members, sum] = tally.get(key, now()) as unknown as [number, number];
      return { members, weight: sum };
    },
    leave: (key, member) => void leave.run(key, member),
    sweep: () => void sweep.run(now()),
  };
}
