import { setImmediate } from "node:timers/promises";
import type { Store } from "../../../runtime/core/store.ts";

/** One thing that was asked of a store. */
export interface NotedWork {
  readonly method: string;
  /** The first word of the key. */
  readonly word: string;
  /** Of the value that was written, as JSON. */
  readonly bytes: number;
  /** Whether a crash of the machine must not lose it. */
  readonly isDurable: boolean;
  /** What is asked for in one turn of the event loop has the same one: a store may write it together. */
  readonly turn: number;
}

/** The place of the durability among the arguments; what is not here is lazy or reads. */
const DURABILITY_AT: Readonly<Record<string, number>> = { set: 3, delete: 1, putIfAbsent: 3, incr: 3 };
/** What is asked while a call is on its way; the background goes on by other names. */
const METHODS = ["get", "set", "delete", "putIfAbsent", "incr", "join", "leave", "enter"] as const;

/**
 * Lets everything that is asked of a store be noted from now on. What is written is there at the end of the turn, as a store
 * on disk has it, which writes all of one turn in one transaction.
 */
export function noteWork(store: Store): NotedWork[] {
  const noted: NotedWork[] = [];
  let turn = 0;
  const methods = store as unknown as Record<string, (...args: unknown[]) => unknown>; // To replace them by their names.
  for (const method of METHODS) {
    const work = methods[method] as (...args: unknown[]) => unknown;
    methods[method] = async (...args) => {
      const entry = method === "enter" ? (args[1] as { key: string; value: unknown; durability?: string }) : undefined;
      const key = entry?.key ?? String(args[0]);
      const at = DURABILITY_AT[method];
      const durability = entry ? entry.durability : at === undefined ? "lazy" : args[at];
      const [word = ""] = key.split(":");
      const bytes = (JSON.stringify(entry?.value ?? args[1]) ?? "").length;
      noted.push({ method, word, bytes, isDurable: (durability ?? "durable") === "durable", turn });
      if (method !== "get") await setImmediate().then(() => (turn += 1));
      return work(...args);
    };
  }
  return noted;
}
