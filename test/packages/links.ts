import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const ROOT = join(import.meta.dirname, "../..");
/** Links and pictures within the repository. */
const LINK = /\]\(([\w./-]+)(?:#[\w-]*)?\)|src="([\w./-]+)"/g;

/** What is not packed: tests, sources, and what upstreams have answered. */
const UNPACKED = /^test\/|\.ts$|\/recordings\//;

/** Links and pictures of a package's pages that lead to none of its files: `page: path`. */
export function lostLinks(files: readonly string[]): string[] {
  const isPacked = (path: string): boolean => files.some((file) => `${file}/`.startsWith(`${path}/`));
  return files
    .filter((file) => file.endsWith(".md"))
    .flatMap((page) =>
      [...readFileSync(join(ROOT, page), "utf8").matchAll(LINK)]
        .map(([, link, picture]) => join(dirname(page), link ?? picture ?? "").replace(/\/$/, ""))
        .filter((path) => !UNPACKED.test(path) && !isPacked(path))
        .map((path) => `${page}: ${path}`),
    );
}
