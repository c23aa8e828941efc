import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const ROOT = join(import.meta.dirname, "../..");
/** The pages that a package's users read. */
const PAGE = /^(?:runtime\/docs\/[\w-]+|manifests\/README)\.md$/;
const LINK = /\]\(([\w./-]+)(?:#[\w-]*)?\)/g;

/** Links of a package's pages that lead to none of its files: `page: path`. Tests are not packed. */
export function lostLinks(files: readonly string[]): string[] {
  const isPacked = (path: string): boolean => files.some((file) => `${file}/`.startsWith(`${path}/`));
  return files
    .filter((file) => PAGE.test(file))
    .flatMap((page) =>
      [...readFileSync(join(ROOT, page), "utf8").matchAll(LINK)]
        .map(([, link = ""]) => join(dirname(page), link).replace(/\/$/, ""))
        .filter((path) => !path.startsWith("test/") && !isPacked(path))
        .map((path) => `${page}: ${path}`),
    );
}
