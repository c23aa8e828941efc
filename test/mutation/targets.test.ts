import { globSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { SOURCES, TESTS } from "./targets.ts";

const ROOT = join(import.meta.dirname, "../..");

/** The patterns that one with braces stands for. */
function expand(pattern: string): string[] {
  const [braces, choices = ""] = /\{([^}]+)\}/.exec(pattern) ?? [];
  return braces ? choices.split(",").flatMap((choice) => expand(pattern.replace(braces, choice))) : [pattern];
}

describe("the sources and tests of the mutation tests", () => {
  for (const pattern of [...SOURCES, ...TESTS].flatMap(expand))
    it(`are where they are said to be: ${pattern}`, () => {
      expect(globSync(pattern, { cwd: ROOT })).not.to.deep.equal([]);
    });
});
