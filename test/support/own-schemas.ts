import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

const folder = join(import.meta.dirname, "../../schemas");

/** The schemas of the project's requests and responses, by name; those of manifests have lower-case names. */
export const OWN_SCHEMAS: ReadonlyMap<string, object> = new Map(
  readdirSync(folder)
    .filter((name) => /^[A-Z]\w*\.json$/.test(name))
    .map((name) => [basename(name, ".json"), JSON.parse(readFileSync(join(folder, name), "utf8"))]),
);
