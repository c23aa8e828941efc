import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Manifest } from "../../core/set/manifest.ts";
import { splitHandler } from "../../core/set/plugins.ts";
import type { RepeatsCredential } from "../../drivers/upstream/leaks.ts";
import { loadRecordings, type RecordedExchange } from "../../sandbox/recordings/recordings.ts";
import { writeRecording } from "./files.ts";

/** The requests of one service to one upstream. */
export interface NewExchanges {
  readonly upstream: string;
  readonly noted: readonly RecordedExchange[];
  /** Of what no recording may contain. */
  readonly repeatsCredential: RepeatsCredential;
}

/**
 * Writes a new recording, or adds to an existing one. @returns a line for each written file, or why none was written.
 */
export async function keepNew(
  dir: string,
  manifest: Manifest,
  { upstream, noted, repeatsCredential }: NewExchanges,
): Promise<readonly string[]> {
  if (noted.length === 0) return [];
  const { id } = manifest;
  const tells = ({ content, ...exchange }: RecordedExchange): boolean =>
    repeatsCredential(Buffer.from(JSON.stringify(exchange))) || (content !== undefined && repeatsCredential(content));
  if (noted.some(tells)) return [`${upstream} for ${id}: not recorded: it repeats a credential`];
  const file = `${folderOf(manifest, dir)}recordings/${upstream}/${id}.json`;
  const there = loadRecordings(dir).find((recording) => recording.file === file);
  const exchanges = [...(there?.exchanges ?? []), ...noted];
  const source = there?.source ?? `Recorded with inputs of ${id}.`;
  await mkdir(dirname(join(dir, file)), { recursive: true });
  const old = { file, upstream, source, exchanges: there?.exchanges ?? [] };
  const written = await writeRecording(dir, old, exchanges);
  return written.map((one) => `${one} written`);
}

/** A plugin that has a folder keeps its recordings there. */
function folderOf({ handler }: Manifest, dir: string): string {
  const folder = handler === undefined ? "" : `plugins/${splitHandler(handler).plugin}/`;
  return folder !== "" && existsSync(join(dir, folder)) ? folder : "";
}
