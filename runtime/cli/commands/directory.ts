import { join } from "node:path";
import { Option } from "commander";

/** Where payphone itself is. */
export const ROOT: string = join(import.meta.dirname, "../../..");

/** `--dir`: a served directory, and what it is for. */
export const dirOption = (what: string): Option => new Option("--dir <directory>", what).default(ROOT, "this project");

/** What `--dir` is for where a whole set is read. */
export const SERVED = "the directory with manifests/, plugins/ and schemas/";
