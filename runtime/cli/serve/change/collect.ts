import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * An earlier set leaves about a megabyte of garbage. V8 lets it grow to a multiple of the live memory before it
 * collects it, so a collection is started after every fourth set. It takes a tenth of a second, about as long as
 * composing a set.
 */
const EVERY = 4;

/** To be called when an earlier set has ended. Starts a collection after every few sets. */
export function createCollector(): () => void {
  const collect = openCollect();
  let ended = 0;
  return () => {
    ended += 1;
    if (ended % EVERY === 0) collect();
  };
}

/** The garbage collector that `node --expose-gc` exposes, for a process that was started without that option. */
export function openCollect(): () => void {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as NodeJS.GCFunction;
  return () => void gc({ type: "major", execution: "async" });
}
