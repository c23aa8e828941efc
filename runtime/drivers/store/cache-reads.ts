import { AsyncLocalStorage } from "node:async_hooks";
import type { InCall, NoteInCall } from "../../core/call.ts";

const scope = new AsyncLocalStorage<NoteInCall>();

/** Runs a call; its cache reads are passed to `note`. */
export const inCall: InCall = (note, call) => scope.run(note, call);

/** Counts a cache read for the current call; does nothing outside of calls. */
export const noteCacheRead = (isHit: boolean): void => scope.getStore()?.(isHit ? "cache:hit" : "cache:miss");
