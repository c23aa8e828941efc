import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { digestSet, noteSoundSet, readSoundSet } from "../../../runtime/cli/set/sound-set.ts";
import { NODE_COMPILE_CACHE } from "../../run/compile-cache.ts";

const ROOT = join(import.meta.dirname, "../../..");
/** Has a file by the digest of each set without faults. It begins anew together with the compiled code. */
const KEPT = join(NODE_COMPILE_CACHE, "sound-sets");

/**
 * Starts a server on a data directory with the note that the files of its shop have no faults, if an earlier start has
 * found that, in any folder and any process. So the same files are checked once.
 */
export async function withSoundNote<T>(
  { dataDir, dir = ROOT }: { readonly dataDir: string; readonly dir?: string | undefined },
  start: () => Promise<T>,
): Promise<T> {
  const digest = digestSet(dir);
  if (digest === undefined) return start();
  if (existsSync(join(KEPT, digest))) await noteSoundSet(dataDir, digest);
  const started = await start();
  if ((await readSoundSet(dataDir)) !== digest) return started;
  await mkdir(KEPT, { recursive: true });
  await writeFile(join(KEPT, digest), "");
  return started;
}
