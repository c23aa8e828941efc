import { join } from "node:path";
import { Option } from "commander";

/** payphone's own directory. */
export const ROOT: string = join(import.meta.dirname, "../../..");

/** The option `--dir`. @param what the directory is used for, for `--help`. */
export const dirOption = (what: string): Option => new Option("--dir <directory>", what).default(ROOT, "this project");

/** `--dir` of commands that read a whole set. */
export const SERVED = "the directory with manifests/, plugins/ and schemas/";
