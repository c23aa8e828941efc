import { setImmediate } from "node:timers/promises";
import type { Store } from "../../../runtime/core/store.ts";

/** One call of a store's method. */
export interface NotedWork {
  readonly method: string;
  /** The first word of the key. */
  readonly word: string;
  /** The size of the written value, as JSON. */
  readonly bytes: number;
  /** Whether the write must survive a crash of the machine. */
  readonly isDurable: boolean;
  /** Calls in one turn of the event loop have the same number: a store may write them together. */
  readonly turn: number;
}

/** The position of the durability among the arguments. Methods that are not listed are lazy or read. */
const DURABILITY_AT: Readonly<Record<string, number>> = { set: 3, delete: 1, putIfAbsent: 3, drop: 2, incr: 3 };
/** The methods used while a call is processed. Background work uses others. */
const METHODS = ["get", "set", "delete", "putIfAbsent", "drop", "incr", "join", "leave", "enter"] as const;

/**
 * Records all further calls of a store. A write ends at the end of the turn, as in a store on disk, which writes all of
 * one turn in one transaction.
 */
export function noteWork(store: Store): NotedWork[] {
  const noted: NotedWork[] = [];
  let turn = 0;
  // The methods are replaced by name.
  const methods = store as unknown as Record<string, (...args: unknown[]) => unknown>;
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
