import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { toHousePage } from "./page.ts";
import { ROOT } from "./sources.ts";

/** Writes `runtime/docs/house.md`; with `--check`, fails when the page is not current. */
const file = join(ROOT, "runtime/docs/house.md");
const page = toHousePage();
if (!process.argv.includes("--check")) writeFileSync(file, page);
else if (readFileSync(file, "utf8") !== page) {
  console.error("runtime/docs/house.md is not current; run: npm run house");
  process.exitCode = 1;
}
