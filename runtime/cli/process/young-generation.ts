import { setFlagsFromString } from "node:v8";

/** V8's default for `--semi-space-growth-factor`. */
const GROWING = 2;

/**
 * Starts something without letting V8's young generation grow: it would grow by 30 MB for the garbage of a start, and V8
 * would keep them. Afterwards it grows with the load, as usual.
 */
export async function startSmall<T>(start: () => Promise<T>): Promise<T> {
  setFlagsFromString("--semi-space-growth-factor=1");
  try {
    return await start();
  } finally {
    setFlagsFromString(`--semi-space-growth-factor=${GROWING}`);
  }
}
