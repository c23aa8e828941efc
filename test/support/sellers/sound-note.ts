import { join } from "node:path";
import { noteSoundSet, readSoundSet } from "../../../runtime/cli/set/sound-set.ts";

const KEPT = join(import.meta.dirname, "../../../node_modules/.cache");

/**
 * Starts a server of the project's own services on a data directory, where it finds what an earlier start has noted there or
 * elsewhere: that these very files are sound. So they are checked once for all tests, as for all starts of a shop.
 */
export async function withSoundNote<T>(dataDir: string, start: () => Promise<T>): Promise<T> {
  const kept = await readSoundSet(KEPT);
  if (kept !== undefined && (await readSoundSet(dataDir)) === undefined) await noteSoundSet(dataDir, kept);
  const started = await start();
  const noted = await readSoundSet(dataDir);
  if (noted !== undefined && noted !== kept) await noteSoundSet(KEPT, noted);
  return started;
}
