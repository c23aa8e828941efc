import { Problem } from "../../api/problem.ts";
import { unlessDamaged } from "../../core/damage.ts";
import { canonicalOf } from "../../core/digest.ts";
import type { Store } from "../../core/store.ts";
import { readClaim } from "../../core/wallets/claim.ts";
import type { SignIns } from "../../core/wallets/sign-in.ts";
import type { RpcParams } from "../rpc/json-rpc.ts";
import { toListedTask } from "./dialects.ts";
import { type A2aRefusal, isRefusal, refuseParams } from "./errors.ts";
import { type ListFilters, type ListParams, readListParams } from "./list-params.ts";
import type { Task } from "./task-book.ts";
import type { TaskIndex } from "./task-index.ts";
import type { TaskContext } from "./tasks.ts";

/** The answer to `ListTasks` (A2A 1.0, section 3.1.4). */
export type ListTasks = (params: RpcParams, context: TaskContext) => Promise<object | A2aRefusal>;

export interface ListTasksOptions {
  readonly index: Pick<TaskIndex, "ofContext" | "ofAccounts">;
  /** Reads a task in its current state. */
  readonly find: (id: string, context: TaskContext) => Promise<Task | undefined>;
  /** When omitted, wallets cannot sign in. */
  readonly signIns?: Pick<SignIns, "declare" | "verify"> | undefined;
  readonly store: Store;
}

/**
 * Where a page begins, and whose tasks it shows. A sign-in proof is accepted once only, so later pages rely on the page
 * token instead.
 */
interface Cursor {
  readonly accounts: readonly string[];
  readonly filters: ListFilters;
  /** The last task of the previous page. */
  readonly after: Pick<Task, "id" | "updatedAt">;
}

const CURSOR_MS = 15 * 60_000;
/** How many tasks are read at once: results can be large, and all of them more than a process can hold. */
const AT_ONCE = 8;
/** The characters of results on one page: more than the largest file that is sold. */
const MOST_SHOWN = 16 * 1024 * 1024;

/**
 * Lists tasks for callers that may see them: the tasks of a context whose id this server made, for callers that know
 * the id; and the tasks that a wallet has paid for, for the wallet that signs in. All other callers get an empty list.
 */
export function createListTasks({ index, find, signIns, store }: ListTasksOptions): ListTasks {
  const cursorKey = (token: string): string => `a2a:page:${token}`;

  return async (raw, context) => {
    const params = readListParams(raw);
    if (isRefusal(params)) return params;
    const { filters, pageSize, pageToken } = params;
    const cursor = pageToken === undefined ? undefined : await store.get<Cursor>(cursorKey(pageToken));
    if (pageToken !== undefined && !cursor) return refuseParams("pageToken is not known any more");
    if (cursor && canonicalOf(cursor.filters) !== canonicalOf(filters))
      return refuseParams("pageToken belongs to a list with other filters");
    if (cursor && isOfAnother(cursor, context)) return refuseParams("pageToken belongs to the list of another wallet");
    const accounts = cursor?.accounts ?? (await readAccounts(context));
    const tasks = await readTasks(accounts, filters, context);
    const left = cursor ? tasks.filter((task) => byAge(cursor.after, task) < 0) : tasks;
    const page = left.slice(0, pageSize);
    const last = left.length > pageSize ? page.at(-1) : undefined;
    const shown = params.includeArtifacts ? await withResults(page, context) : page;
    return toAnswer(shown, tasks.length, last ? await mark({ accounts, filters, after: last }) : "", params);
  };

  /** The accounts of the wallet that signs in. @throws Problem `payment-required` when its proof is refused. */
  async function readAccounts({ signIn }: TaskContext): Promise<readonly string[]> {
    if (signIn === undefined || !signIns) return [];
    const wallet = await signIns.verify(signIn);
    if (typeof wallet !== "string") return wallet.accounts;
    const members = { extensions: { "sign-in-with-x": signIns.declare() } };
    throw new Problem("payment-required", `sign_in_refused: ${wallet}`, { members });
  }

  /** All tasks that match the filters, newest first, without their results. */
  async function readTasks(
    accounts: readonly string[],
    { contextId, state, since = 0 }: ListFilters,
    context: TaskContext,
  ): Promise<Task[]> {
    const [own, known] = await Promise.all([
      index.ofAccounts(accounts),
      contextId === undefined ? [] : index.ofContext(contextId),
    ]);
    const ids = [...new Set([...own, ...known])];
    const found: Task[] = [];
    while (ids.length > 0) {
      const tasks = await Promise.all(ids.splice(0, AT_ONCE).map((id) => find(id, context).catch(unlessDamaged)));
      found.push(...tasks.flatMap((task) => (task ? [withoutResult(task)] : [])));
      await new Promise((done) => setImmediate(done)); // Lets other work run: SQLite answers without waiting.
    }
    return found
      .filter((task) => contextId === undefined || task.contextId === contextId)
      .filter((task) => (state === undefined || task.state === state) && task.updatedAt >= since)
      .sort(byAge);
  }

  /** The tasks with the newest results that fit. */
  async function withResults(page: readonly Task[], context: TaskContext): Promise<Task[]> {
    const shown: Task[] = [];
    let left = MOST_SHOWN;
    for (const task of page) {
      const whole = left > 0 ? await find(task.id, context) : undefined;
      left -= whole?.output === undefined ? 0 : JSON.stringify(whole.output).length;
      shown.push(whole && left > 0 ? whole : task);
    }
    return shown;
  }

  async function mark({ accounts, filters, after: { id, updatedAt } }: Cursor): Promise<string> {
    const token = crypto.randomUUID();
    const cursor: Cursor = { accounts, filters, after: { id, updatedAt } };
    await store.set(cursorKey(token), cursor, CURSOR_MS, "lazy");
    return token;
  }

  function toAnswer(page: readonly Task[], totalSize: number, nextPageToken: string, params: ListParams): object {
    return {
      tasks: page.map((task) =>
        toListedTask(task, { ...params, includeArtifacts: params.includeArtifacts && "output" in task }),
      ),
      nextPageToken,
      pageSize: page.length,
      totalSize,
    };
  }
}

/**
 * Whether a page of a wallet's list is asked for with the proof of another wallet. The proof is not verified, because
 * it only takes away: the token alone gets the page.
 */
function isOfAnother({ accounts }: Cursor, { signIn }: TaskContext): boolean {
  if (signIn === undefined || accounts.length === 0) return false;
  const claim = readClaim(signIn);
  const address = typeof claim === "string" ? "" : claim.address.toLowerCase();
  return !accounts.some((account) => account.toLowerCase().endsWith(`:${address}`));
}

/** Newest first. Tasks with the same time are ordered by id, so that all pages agree on the order. */
const byAge = (a: Pick<Task, "id" | "updatedAt">, b: Pick<Task, "id" | "updatedAt">): number =>
  b.updatedAt - a.updatedAt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

const withoutResult = ({ output: _, isFile: __, ...task }: Task): Task => task;
