import type { Clock } from "../../api/capabilities.ts";
import { JOB_KEEP_MS } from "../../core/refunds/records.ts";
import type { Store } from "../../core/store.ts";
import type { Task } from "./task-book.ts";

/**
 * Which tasks may be listed for whom. A context id made by this server is known only to its client, like the ids of its
 * tasks. A context id chosen by a client may be guessed, so its tasks are listed only for the wallet that has paid for
 * them.
 */
export interface TaskIndex {
  /** Stores a new context that was given to a client without a task. */
  open(contextId: string): Promise<void>;
  /** Adds a new task to its context's list. `isNamedHere`: the context's id was made with this task. */
  begun(task: Task, isNamedHere: boolean): Promise<void>;
  /** Adds a task that was paid for to the lists. @param account its payer: `<CAIP-2>:<address>` */
  paid(task: Task, account: string): Promise<void>;
  /** The ids of a context's newest tasks; none when the context's id was not made by this server. */
  ofContext(contextId: string): Promise<readonly string[]>;
  /** The ids of the newest tasks that these accounts have paid for. */
  ofAccounts(accounts: readonly string[]): Promise<readonly string[]>;
}

/** A context whose id was made by this server. */
interface Context {
  /** The task that began the context, if any. */
  readonly first?: string;
  /** When the context expires: Unix milliseconds. */
  readonly until: number;
}

/** How many tasks of one list are shown. */
const MOST_LISTED = 100;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const UNPAID_MS = 15 * MINUTE_MS;
/**
 * A list is stored in periods, and only the newest periods are read. Unpaid tasks are in short periods, paid tasks and
 * jobs in long ones.
 */
const SHORT = { name: "m", periodMs: 30 * MINUTE_MS, periods: 2 } as const;
const LONG = { name: "d", periodMs: DAY_MS, periods: 3 } as const;

export function createTaskIndex({ store, clock }: { readonly store: Store; readonly clock: Clock }): TaskIndex {
  const contextKey = (contextId: string): string => `a2a:context:${contextId}`;
  const periodKey = (owner: string, { name, periodMs }: typeof SHORT | typeof LONG, back = 0): string =>
    `a2a:listed:${owner}:${name}${Math.floor(clock.now() / periodMs) - back}`;
  const readContext = (contextId: string): Promise<Context | undefined> => store.get<Context>(contextKey(contextId));

  async function keep(contextId: string, { first, until }: Context, keepMs: number): Promise<void> {
    const last = Math.max(until, clock.now() + keepMs);
    await store.set(contextKey(contextId), { ...(first && { first }), until: last }, last - clock.now(), "lazy");
  }

  async function note(owner: string, id: string, span: typeof SHORT | typeof LONG): Promise<void> {
    const ttlMs = span.periodMs * span.periods;
    const key = periodKey(owner, span);
    const at = await store.incr(key, 1, ttlMs, "lazy");
    await store.set(`${key}:${at}`, id, ttlMs, "lazy");
  }

  async function newest(owner: string): Promise<readonly string[]> {
    const keys = [SHORT, LONG].flatMap((span) =>
      Array.from({ length: span.periods }, (_, back) => periodKey(owner, span, back)),
    );
    const lists = keys.map(async (key) => {
      const count = (await store.get<number>(key)) ?? 0;
      const shown = Math.min(count, MOST_LISTED);
      return Promise.all(Array.from({ length: shown }, (_, at) => store.get<string>(`${key}:${count - at}`)));
    });
    return (await Promise.all(lists)).flat().filter((id) => id !== undefined);
  }

  const ownerOf = (contextId: string): string => `context:${contextId}`;
  const cut = (ids: readonly string[]): readonly string[] => [...new Set(ids)].slice(0, MOST_LISTED);

  return {
    open: (contextId) => keep(contextId, { until: 0 }, UNPAID_MS),
    async begun({ id, contextId, job }, isNamedHere) {
      const keepMs = job ? JOB_KEEP_MS : UNPAID_MS;
      if (isNamedHere) return keep(contextId, { first: id, until: 0 }, keepMs);
      const context = await readContext(contextId);
      if (!context) return;
      await keep(contextId, context, keepMs);
      await note(ownerOf(contextId), id, job ? LONG : SHORT);
    },
    async paid({ id, contextId, job }, account) {
      const context = await readContext(contextId);
      if (context) await keep(contextId, context, job ? JOB_KEEP_MS : DAY_MS);
      if (context && context.first !== id) await note(ownerOf(contextId), id, LONG);
      await note(`payer:${account}`, id, LONG);
    },
    async ofContext(contextId) {
      const context = await readContext(contextId);
      if (!context) return [];
      return cut([...(await newest(ownerOf(contextId))), ...(context.first ? [context.first] : [])]);
    },
    ofAccounts: async (accounts) =>
      cut((await Promise.all(accounts.map((account) => newest(`payer:${account}`)))).flat()),
  };
}
