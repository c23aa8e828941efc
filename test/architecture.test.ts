import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "chai";

const root = join(import.meta.dirname, "..");
const BELOW_SERVER = ["schemas", "runtime/api", "runtime/core"];

/** Who may import whom: the floors below, and the packages that live on this floor. */
const FLOORS: Record<string, { below: readonly string[]; packages: RegExp }> = {
  schemas: { below: ["runtime/api"], packages: /^$/ },
  "runtime/api": { below: ["schemas"], packages: /^$/ },
  "runtime/core": {
    below: ["schemas", "runtime/api"],
    packages: /^(node:crypto|ajv(\/.*)?|ajv-formats|canonicalize)$/,
  },
  "runtime/drivers": { below: BELOW_SERVER, packages: /^(?!express$)/ },
  "runtime/surfaces": { below: BELOW_SERVER, packages: /^$/ },
  "runtime/server": {
    below: [...BELOW_SERVER, "runtime/surfaces"],
    packages: /^(express|rate-limiter-flexible(\/.*)?|node:(http|crypto|net|buffer|stream|timers\/promises))$/,
  },
  "runtime/sandbox": { below: [...BELOW_SERVER, "runtime/drivers"], packages: /^(?!express$)/ },
  "runtime/cli": {
    below: [...BELOW_SERVER, "runtime/drivers", "runtime/surfaces", "runtime/server", "runtime/sandbox"],
    packages: /^(?!express$)/,
  },
  plugins: { below: ["#plugin"], packages: /^(?!(express|keyv|@keyv\/redis)$)/ },
};

/** Words that have one home. */
const HOMES: readonly [word: RegExp, home: RegExp][] = [
  [/\bprocess\.env\b/, /^runtime\/cli\/config\/config\.ts$/],
  [/^export default/m, /^plugins\//],
  [/^(export )?(const )?enum |^(export )?namespace /m, /^$/],
  [/\bfrom "express"/, /^runtime\/server\//],
];
/** A computed `import(…)` loads code that nobody listed: only the loader and the sandbox's entrance may. */
const COMPUTED_IMPORT = /\bimport\((?!")/;
const LOADERS = /^runtime\/cli\/set\/load\.ts$/;
const MAX_LINES = 250;

const files = new Map(
  ["schemas", "runtime", "plugins"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => [join(folder, name), readFileSync(join(root, folder, name), "utf8")] as const),
  ),
);

const floorOf = (path: string): string => Object.keys(FLOORS).find((floor) => path.startsWith(`${floor}/`)) ?? path;

/** Static imports, re-exports and `import("literal")`, resolved to paths from the root where they are relative. */
function importsOf(file: string): string[] {
  const source = files.get(file) ?? "";
  const found = [
    ...source.matchAll(/^(?:import|export)\s(?:[^"';]*from\s)?"([^"]+)"/gm),
    ...source.matchAll(/\bimport\("([^"]+)"\)/g),
  ];
  return found.map(([, specifier = ""]) => (specifier.startsWith(".") ? join(dirname(file), specifier) : specifier));
}

/** A plugin may import from its own folder: plugins/<name>.ts or plugins/<name>/… */
const roomOf = (file: string): string => file.split("/")[1]?.replace(/\.ts$/, "") ?? "";

describe("the architecture", () => {
  for (const [file, source] of files) {
    it(`${file} keeps its floor`, () => {
      const floor = FLOORS[floorOf(file)] ?? expect.fail("stands on no floor");
      if (!file.includes("/generated/")) expect(source.split("\n").length, "lines").to.be.below(MAX_LINES);
      for (const target of importsOf(file)) {
        if (files.has(target) || target.startsWith("#")) {
          expect([floorOf(file), ...floor.below], target).to.include(floorOf(target));
          if (floorOf(file) === "plugins" && files.has(target)) expect(roomOf(target), target).to.equal(roomOf(file));
        } else if (!target.endsWith(".json")) expect(target).to.match(floor.packages);
      }
      for (const [word, home] of HOMES) if (word.test(source)) expect(file, String(word)).to.match(home);
      if (COMPUTED_IMPORT.test(source)) expect(file, "a computed import").to.match(LOADERS);
    });
  }

  it("drivers and surfaces never look sideways at each other", () => {
    for (const file of files.keys())
      for (const target of importsOf(file))
        if (floorOf(file) === "runtime/drivers") expect(floorOf(target)).not.to.equal("runtime/surfaces");
  });

  it("has no circles", () => {
    const done = new Set<string>();
    const walk = (file: string, trail: readonly string[]): void => {
      expect(trail, [...trail, file].join(" → ")).not.to.include(file);
      if (done.has(file)) return;
      for (const target of importsOf(file)) if (files.has(target)) walk(target, [...trail, file]);
      done.add(file);
    };
    for (const file of files.keys()) walk(file, []);
  });
});
