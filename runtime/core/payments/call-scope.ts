import { AsyncLocalStorage } from "node:async_hooks";

/** Counts something for the call that is being answered. */
type Note = (what: "cache:hit" | "cache:miss") => void;

const scope = new AsyncLocalStorage<Note>();

/** Runs a call; what is done on its behalf can count for it. */
export const inCall = <T>(note: Note, call: () => Promise<T>): Promise<T> => scope.run(note, call);

/** Counts that a cache was read on behalf of the call that runs; nothing outside of calls. */
export const noteCacheRead = (isHit: boolean): void => scope.getStore()?.(isHit ? "cache:hit" : "cache:miss");
