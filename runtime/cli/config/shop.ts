import { existsSync, lstatSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { Problem } from "../../api/problem.ts";

/**
 * The nearest folder, from this one upwards, that has `manifests/`; undefined when there is none. Those above that another
 * user has made, as anybody can in /tmp, are passed over: their plugins and `.env` would count here.
 */
export const findShop = (from: string = process.cwd()): string | undefined =>
  findFolders(from).find((folder) => folder === from || isTrusted(join(folder, MANIFESTS), from));

const MANIFESTS = "manifests";

/** All folders with manifests, from this one upwards. */
function findFolders(from: string): readonly string[] {
  const above = dirname(from);
  const further = above === from ? [] : findFolders(above);
  return existsSync(join(from, MANIFESTS)) ? [from, ...further] : further;
}

/** Whether this user, root, or the owner of the folder that one stands in has made what is there. A link is its maker's. */
function isTrusted(path: string, from: string): boolean {
  const own = process.getuid?.();
  return own === undefined || [own, 0, statSync(from).uid].includes(lstatSync(path).uid);
}

/**
 * The folder of a set. @param remedy another way out, for the error. @throws Problem `bad-request` that says where the
 * folder was looked for.
 */
export function toShop(dir: string | undefined, remedy = "name it with --dir"): string {
  if (dir !== undefined) return dir;
  const [other] = findFolders(process.cwd());
  const where =
    other === undefined
      ? `There is no folder manifests/ here (${process.cwd()}) or in any folder above.`
      : `${join(other, MANIFESTS)} belongs to another user, whose plugins would run here.`;
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
