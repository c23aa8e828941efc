import closeWithGrace from "close-with-grace";
import type { Log } from "../../api/capabilities.ts";
import { toInterruptListener } from "../interrupt.ts";
import { isOfPlugin } from "../set/plugins/watch-exit.ts";

/** How long calls in flight may take at shutdown: a deadline and a settlement. */
export const GRACE_MS = 60_000;
/** How long a server may take to close. */
export const CLOSE_MS: number = GRACE_MS + 10_000;

interface SignalTerms {
  readonly close: () => Promise<void>;
  /** The handler of SIGHUP. When omitted, SIGHUP closes the server, as when a terminal ends. */
  readonly reload?: (() => void) | undefined;
}

/** From now on, a promise that a plugin has left rejected is logged: the process also sells the other services. */
export function outliveRejections(log: Log): void {
  process.on("unhandledRejection", (error) => {
    if (!isOfPlugin(error)) throw error;
    log.error("plugin.rejected", { error });
  });
}

/** Closes the server on SIGINT, on SIGTERM and on an uncaught error. A second signal ends the process. */
export function closeOnSignal({ close, reload }: SignalTerms): void {
  if (reload) process.on("SIGHUP", reload);
  const own = ["SIGINT", "SIGTERM", "SIGUSR2", "unhandledRejection"] as const;
  const skip = [...own, ...(reload ? (["SIGHUP"] as const) : [])];
  const grace = closeWithGrace({ delay: CLOSE_MS, logger: false, skip }, async ({ err }) => {
    if (err) console.error(err);
    await close();
  });
  const interrupt = toInterruptListener({ first: () => void grace.close(), again: () => process.exit(1) });
  process.on("SIGINT", interrupt).on("SIGTERM", interrupt);
}
