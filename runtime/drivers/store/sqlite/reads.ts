import { setImmediate } from "node:timers/promises";
import type { Commits } from "./commits.ts";
import type { Entries } from "./entries.ts";

/** In bytes. */
const LARGE = 65_536;
const LATER: unique symbol = Symbol();

/** Reads of entries. */
export interface Reads {
  /** The text of an entry. */
  get(key: string): Promise<string | undefined>;
  /** Resolves when no read waits. */
  drain(): Promise<void>;
}

/**
 * Of large entries, such as stored answers, one is read in each turn of the event loop. Many that are asked for at once
 * would otherwise be in memory together, and keep all other work waiting. A read that has waited sees the newest text.
 */
export function createReads(commits: Pick<Commits, "read">, entries: Pick<Entries, "read" | "isLarger">): Reads {
  /** Set while the current turn has read a large entry. */
  let turn: Promise<void> | undefined;

  return {
    async get(key) {
      for (;;) {
        const text = await commits.read(key, () => read(key));
        if (text !== LATER) return text;
        await turn;
      }
    },
    async drain() {
      while (turn) await setImmediate();
    },
  };

  function read(key: string): string | typeof LATER | undefined {
    if (turn && entries.isLarger(key, LARGE)) return LATER;
    const text = entries.read(key)?.[0];
    if (text !== undefined && text.length > LARGE)
      turn = setImmediate().then(() => {
        turn = undefined;
      });
    return text;
  }
}
