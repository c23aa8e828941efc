import { join } from "node:path";
import { Option } from "commander";
import { findShop } from "../config/shop.ts";

/** payphone's own directory. */
export const ROOT: string = join(import.meta.dirname, "../../..");

const NEAREST = "the nearest folder, from here upwards, that has manifests/";

/** `--dir` of commands that need a whole shop. */
export const shopOption = (): Option =>
  new Option("--dir <directory>", "the folder with manifests/, plugins/ and schemas/").default(findShop(), NEAREST);

/**
 * `--dir` of commands that need only rails. Outside a shop, payphone's own rails are used. @param what the rails are
 * needed for
 */
export const railsOption = (what: string): Option =>
  new Option("--dir <directory>", `its manifests/_site.yaml names the rails ${what}`).default(
    findShop() ?? ROOT,
    `${NEAREST}; payphone's own rails where there is none`,
  );
