import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parse } from "yaml";
import { Problem } from "../../api/problem.ts";
import type { RailManifest, SiteManifest } from "../../core/set/manifest.ts";

/** payphone's own directory. */
const OWN = join(import.meta.dirname, "../../..");

/** What a call needs of a rail, also after it has paid. `payphone check` checks all of it. */
const TEXTS = ["id", "title", "symbol", "network", "asset", "currency", "explorer"] as const;

/**
 * Reads the rails in a directory's `manifests/_site.yaml`, without checking the rest of the file.
 * @throws Problem `bad-request` also when a rail lacks what a call needs, or when the file describes a token that payphone
 *   knows in another way: limits would then bound nothing.
 */
export async function loadRails(dir: string): Promise<readonly RailManifest[]> {
  const rails = await read(dir);
  const own = resolve(dir) === OWN ? rails : await read(OWN);
  const known = new Map(own.map((rail) => [nameOf(rail), rail]));
  for (const rail of rails) {
    const missing = TEXTS.find((key) => typeof rail[key] !== "string");
    if (missing) throw new Problem("bad-request", `${fileIn(dir)}: rail ${rail.id} has no ${missing}`);
    const same = known.get(nameOf(rail));
    for (const key of ["decimals", "currency"] as const)
      if (same && same[key] !== rail[key]) {
        const fault = `${fileIn(dir)}: ${key} of rail ${rail.id} is ${rail[key]}, and ${same.title} has ${same[key]}`;
        throw new Problem("bad-request", fault);
      }
  }
  return rails;
}

async function read(dir: string): Promise<readonly RailManifest[]> {
  try {
    return (parse(await readFile(fileIn(dir), "utf8")) as SiteManifest).rails ?? [];
  } catch (error) {
    throw new Problem("bad-request", `cannot read the rails in ${fileIn(dir)} (${(error as Error).message})`);
  }
}

const fileIn = (dir: string): string => join(dir, "manifests/_site.yaml");

/** Identifies a token. */
const nameOf = ({ network, asset }: RailManifest): string => `${network} ${String(asset).toLowerCase()}`;
