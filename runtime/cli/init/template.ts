import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const FOLDER = join(import.meta.dirname, "shop");

/** The blanks of the new shop's files. */
export interface Blanks {
  /** The folder's name, and the site's. */
  readonly name: string;
  readonly title: string;
  /** As YAML. */
  readonly owner: string;
  /** As YAML. */
  readonly contact: string;
  /** As JSON: what package.json depends on. */
  readonly payphone: string;
}

/**
 * The files of a new shop, by path. Those in `shop/` end with `.txt`, so that nothing takes them for code or settings of
 * payphone, and a leading dot is spelt.
 */
export function fillTemplate(blanks: Blanks): ReadonlyMap<string, string> {
  const files = globSync("**/*.txt", { cwd: FOLDER }).sort();
  const fill = (text: string): string =>
    text.replaceAll(/\{\{(\w+)\}\}/g, (whole, blank: string) => blanks[blank as keyof Blanks] ?? whole);
  return new Map(files.map((file) => [toPath(file), fill(readFileSync(join(FOLDER, file), "utf8"))]));
}

function toPath(file: string): string {
  const name = file.slice(dirname(file) === "." ? 0 : dirname(file).length + 1, -".txt".length);
  return join(dirname(file), name.replace(/^dot-/, "."));
}
