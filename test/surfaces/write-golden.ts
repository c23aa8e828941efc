import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { GOLDEN, toGolden } from "./support/golden.ts";

rmSync(GOLDEN, { recursive: true, force: true });
mkdirSync(GOLDEN, { recursive: true });
for (const [name, text] of await toGolden()) writeFileSync(join(GOLDEN, `${name}.golden`), text);
