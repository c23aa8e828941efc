import { resolve } from "node:path";
import { Problem } from "../../api/problem.ts";
import type { Config } from "../config/config.ts";
import { type SetComparison, toChangeLines } from "../history/change.ts";
import { diffCode, diffSets } from "../history/diff.ts";
import { readFolder } from "../history/folder.ts";
import { createHistory, type HistoryEntry } from "../history/history.ts";
import { printable } from "../printable.ts";
import { answers } from "../process/sockets.ts";
import type { Applied } from "../serve/change/changes.ts";
import { toFaultProblem, tryPlugins } from "../set/check.ts";
import { loadSet } from "../set/load.ts";
import { userName } from "../user.ts";
import { askProcess, findProcesses, requireProcesses } from "./ask.ts";

/** Where a command works. */
export interface OperateTerms {
  readonly dir: string;
  readonly config: Pick<Config, "dataDir" | "env">;
}

/**
 * Compares the folder with the set that is being sold, or was sold last.
 * @throws Problem `bad-request` with the faults of the folder, because nothing was ever sold, or because the process
 *   sells another folder.
 */
export async function compareWithSold({ dir, config }: OperateTerms): Promise<SetComparison> {
  const [socket] = await findProcesses(config.dataDir);
  if (socket === undefined) return compareWithLast({ dir, config });
  return askProcess<SetComparison>(socket, "GET", `/diff?${new URLSearchParams({ dir: resolve(dir) })}`);
}

async function compareWithLast({ dir, config: { dataDir, env } }: OperateTerms): Promise<SetComparison> {
  const history = createHistory(dataDir);
  const last = await history.last();
  const kept = last && (await history.find(last.digest));
  if (!last || kept === undefined)
    throw new Problem("bad-request", `Nothing was sold from ${dataDir} yet: there is nothing to compare with`);
  const [before, after] = [await loadSet(kept, { home: dir }), await loadSet(dir)];
  const { faults } = await tryPlugins(after, env);
  if (faults.length > 0) throw toFaultProblem(faults);
  const [old, now] = [readFolder(kept), readFolder(dir)];
  return {
    from: old.digest,
    to: now.digest,
    changes: [...diffSets(before, after), ...diffCode(old.digests, now.digests)],
  };
}

/**
 * Makes every process on this machine sell its folder. @param dir the folder that is meant, when one is. @throws
 * Problem with every fault, or because a process sells another folder. Its message names the processes that had changed
 * before the fault; when it names none, none had.
 */
export const apply = ({ dataDir }: Pick<Config, "dataDir">, dir?: string): Promise<readonly Applied[]> =>
  order(dataDir, "run the command again", () => ["/apply", dir === undefined ? {} : { dir: resolve(dir) }]);

/**
 * Makes every process on this machine sell an earlier set again. @param steps how many sets to go back. @throws as
 * `apply`.
 */
export const rollBack = ({ dataDir }: Pick<Config, "dataDir">, steps: number): Promise<readonly Applied[]> =>
  order(dataDir, RESTART, (first) => ["/rollback", first ? { to: first.to } : { steps }]);

/** The command again would go back from the set that was reached. */
const RESTART = "restart it, since this command given again would go further back";

/** How often processes are listed again, to tell those that have started meanwhile. Processes that die are skipped. */
const MOST_ROUNDS = 20;

/**
 * @param mend what to do for a process that has not changed while others have
 * @param say the order for a process; `first` is the result of the first process.
 */
async function order(
  dataDir: string,
  mend: string,
  say: (first: Applied | undefined) => readonly [path: string, terms: object],
): Promise<readonly Applied[]> {
  const done = new Map<string, Applied>();
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const sockets = round === 0 ? await requireProcesses(dataDir) : await findProcesses(dataDir);
    if (sockets.length === 0)
      throw new Problem(
        "unavailable",
        "No process runs any more: it has ended since it was told, and its log says why",
      );
    const untold = sockets.filter((socket) => !done.has(socket));
    if (untold.length === 0) return [...done.values()];
    for (const socket of untold) {
      const [path, terms] = say(done.values().next().value);
      const applied = await tell(socket, path, terms).catch((error: unknown) => refuse(error, done, mend));
      if (applied) done.set(socket, applied);
    }
  }
  return refuse(new Problem("unavailable", "Processes die as soon as they are told: their logs say why"), done, mend);
}

/**
 * Undefined when the process has died meanwhile; another one may listen in its place already. @throws Problem as the
 * process answered it, and also when it may have gone back, in which case the order cannot be repeated.
 */
async function tell(socket: string, path: string, terms: object): Promise<Applied | undefined> {
  try {
    return await askProcess<Applied>(socket, "POST", path, { ...terms, by: userName() });
  } catch (error) {
    const isRepeatable = !("steps" in terms) && hasBrokenOff(error);
    if (!isRepeatable && (await answers(socket))) throw error;
    return undefined;
  }
}

/** Whether the process has died before it answered. */
const hasBrokenOff = (error: unknown): boolean =>
  error instanceof Problem && (error.cause as NodeJS.ErrnoException | undefined)?.code === "ECONNRESET";

/** @throws Problem that also says what the processes that were told before sell now. */
function refuse(error: unknown, done: ReadonlyMap<string, Applied>, mend: string): never {
  const { code, message } = Problem.from(error);
  const [first] = done.values();
  if (!first) throw error;
  const count = `${done.size} ${done.size === 1 ? "process sells" : "processes sell"}`;
  throw new Problem(code, `${message}\n${count} ${first.to} now, and this one does not: ${mend}`);
}

/** The history, oldest first: from a running process, or else from the data directory. */
export async function readHistory({ dataDir }: Pick<Config, "dataDir">): Promise<readonly HistoryEntry[]> {
  const [socket] = await findProcesses(dataDir);
  return socket === undefined
    ? createHistory(dataDir).list()
    : askProcess<readonly HistoryEntry[]>(socket, "GET", "/history");
}

/** What `payphone diff` prints. */
export function toDiffText({ from, to, changes, kept }: SetComparison): string {
  const warnings = toWarnings(kept);
  if (changes.length === 0) {
    const note = from === to ? "" : `; the folder, ${to}, differs in comments and the like`;
    return [`nothing to apply: ${from} is sold${note}`, ...warnings].join("\n");
  }
  const summary = `${from} → ${to}: ${toCount(changes.length)}${toBreaking({ changes })}`;
  return [...toChangeLines(changes), "", summary, ...warnings].join("\n");
}

/** What `payphone apply` and `rollback` print. */
export function toAppliedText(all: readonly Applied[]): string {
  const [first] = all as readonly [Applied, ...Applied[]];
  const warnings = toWarnings(all.flatMap(({ kept = [] }) => kept));
  if (all.every(({ times }) => !times)) return [`nothing to apply: ${first.to} is sold`, ...warnings].join("\n");
  const processes = all.length === 1 ? "" : ` by ${all.length} processes`;
  const times = all.flatMap(({ times }) => times ?? []);
  const [slowest, swap] = [times.map(({ prepareMs }) => prepareMs), times.map(({ swapMs }) => swapMs)];
  const changed = all.find(({ times }) => times) as Applied;
  const took = `prepared in ${Math.max(...slowest)} ms, swapped in ${Math.max(...swap)} ms`;
  return [...toChangeLines(changed.changes), "", `${changed.to} is sold now${processes}: ${took}`, ...warnings].join(
    "\n",
  );
}

const toWarnings = (kept: readonly string[] = []): readonly string[] =>
  [...new Set(kept)].map((line) => `warning  ${printable(line)}`);

/** What `payphone history` prints, newest first. */
export function toHistoryText(entries: readonly HistoryEntry[]): string {
  if (entries.length === 0) return "nothing was sold from here yet";
  return [...entries]
    .reverse()
    .map(({ digest, at, by, what, changes }) => {
      const lines = toChangeLines(changes).map((line) => `  ${line}`);
      return [`${digest}  ${at}  ${what}${by === what ? "" : ` by ${by}`}`, ...lines].join("\n");
    })
    .join("\n");
}

const toCount = (count: number): string => `${count} ${count === 1 ? "change" : "changes"}`;

function toBreaking({ changes }: Pick<SetComparison, "changes">): string {
  const breaking = changes.filter(({ isBreaking }) => isBreaking).length;
  return breaking === 0 ? "" : `, ${breaking} of which may break buyers`;
}
