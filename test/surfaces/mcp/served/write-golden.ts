import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { GOLDEN, toGolden } from "./support/golden.ts";
import { openStall } from "./support/stall.ts";

const stall = await openStall();
writeFileSync(GOLDEN, await toGolden(stall));
execFileSync("npx", ["biome", "format", "--write", GOLDEN]);
stall.close();
