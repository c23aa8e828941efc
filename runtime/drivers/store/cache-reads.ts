import { AsyncLocalStorage } from "node:async_hooks";
import type { InCall, NoteInCall } from "../../core/call.ts";

const scope = new AsyncLocalStorage<NoteInCall>();

/** Runs a call; the reads of caches on its behalf count for it. */
export const inCall: InCall = (note, call) => scope.run(note, call);

/** Counts a cache's read on behalf of the call that runs; nothing outside of calls. */
export const noteCacheRead = (isHit: boolean): void => scope.getStore()?.(isHit ? "cache:hit" : "cache:miss");
