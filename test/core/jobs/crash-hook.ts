import { readFileSync } from "node:fs";
import { Socket } from "node:net";
import { DatabaseSync, type SQLInputValue, StatementSync } from "node:sqlite";

/**
 * Loaded before `payphone serve` (`--import`): ends the process, as kill -9 does, at the write to the store that is named in
 * the file CRASH_PLAN: "<number> <prefix>" counts from the first write of a key that begins with the prefix and was not
 * written before. Even numbers: just before a write; odd: just after it. While the file is empty, nothing happens.
 */
const PLAN = process.env.CRASH_PLAN as string;
const WATCHED = /^(?:job|queue:|payment:|open:|owed|refund)/;
const known = new Set<string>();
let seen = 0;

/** Counts a write. True when the process is to end as soon as it is done. */
function count(key: string): boolean {
  if (seen === 0) {
    const isKnown = known.has(key);
    known.add(key);
    if (isKnown) return false;
  }
  const [point, from = ""] = readFileSync(PLAN, "utf8").split(" ");
  if (!point || (seen === 0 && !key.startsWith(from))) return false;
  const number = seen * 2;
  seen += 1;
  if (number === Number(point)) die();
  return number + 1 === Number(point);
}

const die = (): void => void process.kill(process.pid, "SIGKILL");

let isLast = false;
const { run } = StatementSync.prototype;
StatementSync.prototype.run = function (this: StatementSync, ...values: [SQLInputValue]) {
  const [key] = values;
  const changes = Reflect.apply(run, this, values);
  if (typeof key === "string" && WATCHED.test(key)) isLast ||= count(key);
  return changes;
} as typeof run;
const { exec } = DatabaseSync.prototype;
DatabaseSync.prototype.exec = function (this: DatabaseSync, sql: string) {
  exec.call(this, sql);
  if (isLast && sql === "COMMIT") die();
};

/** A command of Redis that writes: by the store, whose keys begin with the namespace, or by the line of jobs. */
const REDIS = /\r\n(?:SET|DEL|UNLINK|EVAL|EVALSHA)\r\n[\s\S]*\r\npayphone(?:-jobs)?:+([^\r]*)/;
const { write } = Socket.prototype;
Socket.prototype.write = function (this: Socket, ...args: [string]) {
  const found = typeof args[0] === "string" ? REDIS.exec(args[0]) : null;
  const key = found?.[1] ?? "";
  const isWrite = found !== null && (WATCHED.test(key) || key.startsWith("errand"));
  const isFinal = isWrite && count(key);
  const isFlushed = Reflect.apply(write, this, args);
  if (isFinal) setTimeout(die, 1);
  return isFlushed;
} as typeof write;
