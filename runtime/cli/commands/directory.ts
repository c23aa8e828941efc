import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { Option } from "commander";
import { Problem } from "../../api/problem.ts";

/** payphone's own directory. */
export const ROOT: string = join(import.meta.dirname, "../../..");

const NEAREST = "the nearest folder, from here upwards, that has manifests/";

/** The nearest folder, from this one upwards, that has `manifests/`; undefined when there is none. */
export function findShop(from: string = process.cwd()): string | undefined {
  if (existsSync(join(from, "manifests"))) return from;
  const above = dirname(from);
  return above === from ? undefined : findShop(above);
}

/** `--dir` of commands that read a whole set. */
export const shopOption = (): Option =>
  new Option("--dir <directory>", "the folder with manifests/, plugins/ and schemas/").default(findShop(), NEAREST);

/** `--dir` of commands that need only rails. Outside of a shop they are payphone's own. @param what they are needed for. */
export const railsOption = (what: string): Option =>
  new Option("--dir <directory>", `its manifests/_site.yaml names the rails ${what}`).default(
    findShop() ?? ROOT,
    `${NEAREST}; payphone's own rails where there is none`,
  );

/** The folder of a set. @throws Problem `bad-request` that says where it was looked for. */
export function toShop(dir: string | undefined): string {
  if (dir !== undefined) return dir;
  const where = `There is no folder manifests/ here (${process.cwd()}) or in any folder above.`;
  throw new Problem("bad-request", `${where} Change to your shop's folder, or name it with --dir`);
}
