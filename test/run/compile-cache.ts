import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/** Without it, every process strips and compiles the same files again: half of what it takes to start. */
export const NODE_COMPILE_CACHE = join(import.meta.dirname, "../../node_modules/.cache/node");
/** In files: some 250 MB. */
const MOST = 50_000;

/** Begins anew now and then: each run leaves the code of shops that it has made in new folders, which no other run reads. */
export function boundCompileCache(dir = NODE_COMPILE_CACHE, most = MOST): void {
  if (!existsSync(dir) || readdirSync(dir, { recursive: true }).length <= most) return;
  try {
    rmSync(dir, { recursive: true, force: true });
  } catch {
    // Another run writes to it now. The next one tries again.
  }
}
