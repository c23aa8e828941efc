import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { Problem } from "../../api/problem.ts";
import type { RailManifest, SiteManifest } from "../../core/set/manifest.ts";

/** Reads the rails in a directory's `manifests/_site.yaml`, without checking the file. @throws Problem `bad-request`. */
export async function loadRails(dir: string): Promise<readonly RailManifest[]> {
  const file = join(dir, "manifests/_site.yaml");
  try {
    return (parse(await readFile(file, "utf8")) as SiteManifest).rails;
  } catch (error) {
    throw new Problem("bad-request", `cannot read the rails in ${file} (${(error as Error).message})`);
  }
}
