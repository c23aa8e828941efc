import { readFileSync } from "node:fs";
import { join } from "node:path";

const TUTORIAL = readFileSync(join(import.meta.dirname, "../../runtime/docs/tutorial.md"), "utf8");
/** The tutorial's code blocks; `path` is the file that one is to be written to. */
export const BLOCKS = [...TUTORIAL.matchAll(/^```(\w+)(?: (\S+))?\n(.*?)^```$/gms)].map(
  ([, language, path, text = ""]) => {
    return { language, path, text };
  },
);
/** What the tutorial has people type. */
export const COMMANDS = BLOCKS.filter(({ language }) => language === "sh").flatMap(({ text }) =>
  text.trim().split("\n"),
);
