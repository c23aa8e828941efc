import { openStore, type StoreOptions, storeFileOf } from "../../../runtime/drivers/store/open-store.ts";
import { openSqliteStore } from "../../../runtime/drivers/store/sqlite/sqlite.ts";

/**
 * Works on a store in a child process. `race` claims keys that other processes also claim, and prints how many it got.
 * `write` writes until it is killed, and prints each acknowledged key. `fill` writes until the disk is full, then
 * something small, and prints the number of writes and the store's error. `brim` leaves no room even for something small, and
 * prints what a ping says then. `rewrite` writes one key again and again, and prints how many of the last ten writes were
 * taken.
 */
const [options = "", work, argument = ""] = process.argv.slice(2);
const opened = JSON.parse(options) as StoreOptions;
const NEVER_MS = 2 ** 30;
const store = await (["brim", "rewrite"].includes(work ?? "")
  ? openSqliteStore({ file: storeFileOf(opened.dataDir), upkeepMs: NEVER_MS })
  : openStore(opened));

if (work === "race") {
  process.stdout.write("ready\n");
  await new Promise((resolve) => process.stdin.once("data", resolve));
  const claims = Array.from({ length: Number(argument) }, (_, at) => store.putIfAbsent(`race:${at}`, process.pid));
  const counts = Array.from({ length: Number(argument) }, () => store.incr("raced"));
  const won = (await Promise.all(claims)).filter(Boolean).length;
  await Promise.all(counts);
  process.stdout.write(`won ${won}\n`);
  await store.close();
  process.stdin.destroy();
} else if (work === "write") {
  const writeOn = async (lane: number): Promise<void> => {
    for (let at = 0; ; at++) {
      const key = `${argument}:${lane}:${at}`;
      if (await store.putIfAbsent(key, { key })) process.stdout.write(`${key}\n`);
    }
  };
  await Promise.all(Array.from({ length: 16 }, (_, lane) => writeOn(lane)));
} else if (work === "fill") {
  const large = "x".repeat(300_000);
  const fill = async (at: number): Promise<[number, string]> => {
    const [written, counted] = await Promise.allSettled([store.set(`large:${at}`, large), store.incr("filled")]);
    if (written.status === "fulfilled" && counted.status === "fulfilled") return fill(at + 1);
    return [at, written.status === counted.status ? (written as PromiseRejectedResult).reason.code : "half"];
  };
  const [times, said] = await fill(0);
  const after = [await store.get("filled"), await store.get(`large:${times}`)];
  await store.set("small", 1);
  await store.close();
  process.stdout.write(JSON.stringify({ times, said, after }));
} else if (work === "brim") {
  const fillWith = async (text: string, at = 0): Promise<void> =>
    store.set(`${text.length}:${at}`, text).then(
      () => fillWith(text, at + 1),
      () => {},
    );
  for (const size of [100_000, 10_000, 1]) await fillWith("x".repeat(size));
  const said = await store.ping().then(
    () => "it may be used",
    (error: Error) => error.message,
  );
  await store.close();
  process.stdout.write(said);
} else if (work === "rewrite") {
  const text = "x".repeat(10_000);
  let taken: boolean[] = [];
  for (let at = 0; at < 400; at++) {
    const isTaken = await store.set("one", { at, text }).then(
      () => true,
      () => false,
    );
    taken = [...taken.slice(-9), isTaken];
  }
  await store.close();
  process.stdout.write(String(taken.filter(Boolean).length));
}
