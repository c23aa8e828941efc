/**
 * Takes out of the environment what a developer has set for a shop, which would count for the shops of the tests: the
 * variables that operations.md names.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

const text = readFileSync(join(import.meta.dirname, "../../runtime/docs/operations.md"), "utf8");
for (const [, name = ""] of text.matchAll(/`((?!NODE_)[A-Z][A-Z\d_]+)`/g))
  for (const each of [name, `${name}_FILE`]) delete process.env[each];
