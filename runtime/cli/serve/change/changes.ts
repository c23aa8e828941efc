import type { Log } from "../../../api/capabilities.ts";
import { Problem } from "../../../api/problem.ts";
import { createTurns } from "../../../core/time/turns.ts";
import type { Change, SetComparison } from "../../history/change.ts";
import { diffCode, diffSets } from "../../history/diff.ts";
import { readFolder, tryReadFolder } from "../../history/folder.ts";
import type { HistoryEntry } from "../../history/history.ts";
import { loadSet, type ManifestSet } from "../../set/load.ts";
import { listKeptPackages } from "../../set/plugins/packages.ts";
import type { FiledSet, Past } from "./past.ts";
import type { Swap, SwapTimes } from "./swap.ts";

/** Changes the set that this process sells. */
export interface Changes {
  /** The digest of the set that is sold. */
  digest(): string;
  /**
   * Compares the shop's folder with the set that is sold. @throws Problem `bad-request` with the faults of the folder.
   */
  diff(): Promise<SetComparison>;
  /**
   * Sells the set in the shop's folder. Does nothing when that set is sold already.
   * @throws Problem `bad-request` with every fault, `unavailable`; the former set stays then.
   */
  apply(by: string): Promise<Applied>;
  /** Sells an earlier set again. @param to its digest, or how many sets to go back. @throws as `apply`. */
  rollback(to: number | string, by: string): Promise<Applied>;
  /** Sells the set that another process of this data directory sold last. @throws as `apply`. */
  follow(): Promise<void>;
  history(): Promise<readonly HistoryEntry[]>;
}

/** A change that was made. */
export interface Applied extends SetComparison {
  /** Omitted when nothing had to be changed. */
  readonly times?: SwapTimes;
}

export interface ChangesDeps {
  readonly first: FiledSet;
  /** Whether this process starts with a set that other processes sell already, so that its start is no change. */
  readonly isFollower?: boolean | undefined;
  readonly swap: Swap;
  readonly past: Past;
  /** @throws Problem `bad-request` with every fault of the set, its plugins, and the variables that it needs. */
  readonly examine: (set: ManifestSet) => Promise<void>;
  /** Called when another set is sold. */
  readonly announce: () => Promise<void>;
  /** Called when the folder is applied and holds the set that is sold. */
  readonly agree: () => void;
  readonly log: Log;
}

/** Makes one change at a time, and records each when it is made. */
export function createChanges(deps: ChangesDeps): Changes {
  const { first, isFollower = false, swap, past, examine, announce, agree, log } = deps;
  const { history } = past;
  const { home } = first.set;
  let current = first;
  const inTurn = createTurns(noteStart());
  return {
    digest: () => digestOf(current),
    diff: () => inTurn(async () => compare(await load(home))),
    apply: (by) => inTurn(async () => sell(await load(home), { what: "apply", by })),
    rollback: (to, by) => inTurn(() => rollback(to, by)),
    follow: () => inTurn(follow),
    history: history.list,
  };

  async function noteStart(): Promise<void> {
    if (!first.folder || isFollower) return;
    await past.keep(first);
    const at = new Date().toISOString();
    const before = past.before();
    const changes = before ? differencesOf(before, first) : [];
    await past.note({ digest: first.folder.digest, at, by: "start", what: "start", changes });
  }

  /** Reads files that change meanwhile anew. @throws Problem `bad-request` with the faults, or because they go on changing. */
  async function load(dir: string, retries = 2): Promise<FiledSet> {
    const folder = readFolder(dir);
    if (folder.digest === current.folder?.digest) return current;
    const set = await loadSet(dir, { home });
    await examine(set);
    if (readFolder(dir).digest === folder.digest) return { set, folder };
    if (retries > 0) return load(dir, retries - 1);
    throw new Problem("bad-request", `The files in ${dir} change while they are read; try again`);
  }

  function compare(next: FiledSet): SetComparison {
    const changes = next === current ? [] : differencesOf(current, next);
    const kept = listKeptPackages();
    return { from: digestOf(current), to: digestOf(next), changes, ...(kept.length > 0 && { kept }) };
  }

  async function sell(next: FiledSet, { what, by, refused }: Said): Promise<Applied> {
    const comparison = compare(next);
    if (next === current) {
      agree();
      return comparison;
    }
    await past.keep(next);
    const retired = await past.between(current, next);
    const times = await swap.change({ set: next.set, digest: next.folder?.digest, retired });
    current = next;
    const { changes, to: digest } = comparison;
    const at = new Date().toISOString();
    log.info("set.changed", { what, by, from: comparison.from, to: digest, changes: changes.length, ...times });
    await past.note({ digest, at, by, what, changes, ...(refused !== undefined && { refused }) });
    await announce();
    return { ...comparison, times };
  }

  async function rollback(to: number | string, by: string): Promise<Applied> {
    if (to === digestOf(current)) return compare(current);
    const earlier = toDistinct(await history.list(), digestOf(current));
    const target = typeof to === "string" ? to : earlier.at(-to);
    if (target === undefined) throw new Problem("bad-request", `Earlier sets on record: ${earlier.length || "none"}`);
    const refused = tryReadFolder(home)?.digest;
    const said = { what: "rollback", by } as const;
    return sell(await loadKept(target), refused === undefined || refused === target ? said : { ...said, refused });
  }

  async function follow(): Promise<void> {
    const last = await history.last();
    if (last && last.digest !== digestOf(current)) await sell(await loadKept(last.digest), last);
  }

  async function loadKept(digest: string): Promise<FiledSet> {
    const dir = await history.find(digest);
    if (dir === undefined) throw new Problem("bad-request", history.explain(digest));
    return load(dir);
  }
}

interface Said {
  readonly what: HistoryEntry["what"];
  readonly by: string;
  readonly refused?: string;
}

const differencesOf = (from: FiledSet, to: FiledSet): readonly Change[] => [
  ...diffSets(from.set, to.set),
  ...diffCode(from.folder?.digests ?? new Map(), to.folder?.digests ?? new Map()),
];

const digestOf = ({ folder }: FiledSet): string => folder?.digest ?? "unknown";

/**
 * The sets before the current one, newest last. Rollbacks and the sets that they took back are skipped, so that going
 * back twice by one set equals going back by two.
 */
export function toDistinct(entries: readonly HistoryEntry[], current: string): readonly string[] {
  const line: string[] = [];
  for (const { digest, what } of entries) {
    const known = line.lastIndexOf(digest);
    if (what === "rollback" && known >= 0) line.length = known + 1;
    else if (line.at(-1) !== digest) line.push(digest);
  }
  const at = line.lastIndexOf(current);
  return at < 0 ? line : line.slice(0, at);
}
