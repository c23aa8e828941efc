import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * Beside the state of a server: the digest of the last set that it found sound, plugins included. As long as manifests
 * and schemas stay the same, no start has to compile all schemas and try all examples again: a quarter of its work.
 */
const FILE = "sound-set";

/** Undefined while nothing is noted, or what is noted cannot be read: then everything is checked. */
export const readSoundSet = (dataDir: string): Promise<string | undefined> =>
  readFile(join(dataDir, FILE), "utf8").catch(() => undefined);

/** A note that cannot be written, or is torn, costs the next start its time, and nothing else. */
export const noteSoundSet = (dataDir: string, digest: string): Promise<void> =>
  writeFile(join(dataDir, FILE), digest).catch(() => {});
