import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { Problem } from "../../api/problem.ts";

/** The nearest folder, from this one upwards, that has `manifests/`; undefined when there is none. */
export function findShop(from: string = process.cwd()): string | undefined {
  if (existsSync(join(from, "manifests"))) return from;
  const above = dirname(from);
  return above === from ? undefined : findShop(above);
}

/**
 * The folder of a set. @param remedy another way out, for the error. @throws Problem `bad-request` that says where the
 * folder was looked for.
 */
export function toShop(dir: string | undefined, remedy = "name it with --dir"): string {
  if (dir !== undefined) return dir;
  const where = `There is no folder manifests/ here (${process.cwd()}) or in any folder above.`;
  throw new Problem("bad-request", `${where} Change to your shop's folder, or ${remedy}`);
}

/**
 * Refuses what names no folder, such as the empty text of a variable that is not set, which would mean the current one.
 * @throws Problem `bad-request`
 */
export function refuseNoFolder(dir: string): void {
  const right = "write the path of the folder that has manifests/";
  if (dir.trim() === "") throw new Problem("bad-request", `--dir is empty: ${right}`);
  if (statSync(dir, { throwIfNoEntry: false })?.isDirectory() === false)
    throw new Problem("bad-request", `--dir ${dir} is no folder: ${right}`);
}
