import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Old sets leave about a megabyte each, which V8 by itself lets add up to a multiple of what is alive before it looks for
 * it. So it is told to look after so many: that takes a tenth of a second, as composing a set does.
 */
const EVERY = 4;

/** To be called when an earlier set has ended: frees what such sets have left, now and then. */
export function createCollector(collect: () => void = openCollect()): () => void {
  let ended = 0;
  return () => {
    ended += 1;
    if (ended % EVERY === 0) collect();
  };
}

/** Frees what nothing holds any more: what `node --expose-gc` gives, for a process that was started without it. */
export function openCollect(): () => void {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as NodeJS.GCFunction;
  return () => void gc({ type: "major", execution: "async" });
}
