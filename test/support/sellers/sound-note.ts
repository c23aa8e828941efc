import { join } from "node:path";
import { noteSoundSet, readSoundSet } from "../../../runtime/cli/set/sound-set.ts";

const KEPT = join(import.meta.dirname, "../../../node_modules/.cache");

/**
 * Starts a server of the project's own services on a data directory that has the note of an earlier start, made here or
 * elsewhere, that these files have no faults. So the files are checked once for all tests.
 */
export async function withSoundNote<T>(dataDir: string, start: () => Promise<T>): Promise<T> {
  const kept = await readSoundSet(KEPT);
  if (kept !== undefined && (await readSoundSet(dataDir)) === undefined) await noteSoundSet(dataDir, kept);
  const started = await start();
  const noted = await readSoundSet(dataDir);
  if (noted !== undefined && noted !== kept) await noteSoundSet(KEPT, noted);
  return started;
}
