import type { Log } from "../api/capabilities.ts";

/** A log that nobody reads. */
export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} };
