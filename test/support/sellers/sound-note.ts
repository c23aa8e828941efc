import { join } from "node:path";
import { noteSoundSet, readSoundSet } from "../../../runtime/cli/set/sound-set.ts";

const ROOT = join(import.meta.dirname, "../../..");
const KEPT = join(ROOT, "node_modules/.cache");
/** By the shop's folder. */
const notes = new Map<string, string>();

/**
 * Starts a server on a data directory that has the note of an earlier start, made here or elsewhere, that the files of its
 * shop have no faults. So the same files are checked once: for all tests of a process, or for all where they are the
 * project's own.
 */
export async function withSoundNote<T>(
  { dataDir, dir = ROOT }: { readonly dataDir: string; readonly dir?: string | undefined },
  start: () => Promise<T>,
): Promise<T> {
  const kept = notes.get(dir) ?? (dir === ROOT ? await readSoundSet(KEPT) : undefined);
  if (kept !== undefined && (await readSoundSet(dataDir)) === undefined) await noteSoundSet(dataDir, kept);
  const started = await start();
  const noted = await readSoundSet(dataDir);
  if (noted === undefined || noted === kept) return started;
  notes.set(dir, noted);
  if (dir === ROOT) await noteSoundSet(KEPT, noted);
  return started;
}
