import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { FLOORS, HOMES, MAX_FILES, MAX_LINES, ROOMS } from "./architecture/plan.ts";
import { HOUSES, roomsOf } from "./architecture/rooms.ts";
import { exportsOf, floorOf, importsOf, ROOT, SOURCES, sourcesOf } from "./architecture/sources.ts";

/** A plugin is `plugins/<name>.ts` or `plugins/<name>/…`. */
const pluginOf = (file: string): string | undefined => file.split("/")[1]?.replace(/\.ts$/, "");

/** Where a name has one meaning: the runtime, the generated types, or one plugin. */
const worldOf = (file: string): string | undefined =>
  file.startsWith("plugins/") ? pluginOf(file) : file.split("/")[0];

const testFiles = readdirSync(join(ROOT, "test"), { recursive: true, encoding: "utf8" }).map((name) => `test/${name}`);

describe("the architecture", () => {
  for (const [file, source] of SOURCES) {
    it(`${file} keeps its floor`, () => {
      const floor = floorOf(file) ?? expect.fail("stands on no floor");
      const { below, packages } = FLOORS[floor]!;
      if (!file.includes("/generated/")) expect(source.split("\n").length, "lines").to.be.below(MAX_LINES);
      for (const target of importsOf(file)) {
        if (SOURCES.has(target) || target === "#plugin") {
          expect([floor, ...below], target).to.include(floorOf(target) ?? target);
          if (floor === "plugins" && SOURCES.has(target)) expect(pluginOf(target), target).to.equal(pluginOf(file));
        } else if (!target.endsWith(".json")) expect(target).to.match(packages);
      }
      for (const [word, home] of HOMES) if (word.test(source)) expect(file, String(word)).to.match(home);
    });
  }

  for (const folder of HOUSES)
    it(`${folder}, from top to bottom: ${namesOf(folder)}`, () => {
      const rooms = roomsOf(folder).map(({ name }) => name);
      const folders = rooms.filter((name) => !name.endsWith(".ts"));
      expect(folders, "ROOMS in test/architecture/plan.ts").to.deep.equal(ROOMS[folder]);
    });

  it("has its five folders, and none beside them", () => {
    const made = ["node_modules", "dist", "coverage"];
    const folders = readdirSync(ROOT, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const own = folders.map(({ name }) => name).filter((name) => !name.startsWith(".") && !made.includes(name));
    expect(own.sort()).to.deep.equal(["manifests", "plugins", "runtime", "schemas", "test"]);
  });

  it("has no folder with more than 20 source files", () => {
    const files = [...SOURCES.keys(), ...testFiles.filter((name) => name.endsWith(".ts"))];
    for (const [folder, inside] of Map.groupBy(files, (file) => dirname(file)))
      expect(inside.length, folder).to.be.at.most(MAX_FILES);
  });

  it("gives each exported name one meaning: in the runtime, and in each plugin beside the plugin contract", () => {
    const worlds = Map.groupBy(SOURCES.keys(), worldOf);
    const contract = [...SOURCES.keys()].filter((file) => file.startsWith("runtime/api/"));
    const twice = [...worlds.values()].flatMap((files) => {
      const known = files[0]?.startsWith("plugins/") ? [...files, ...contract] : files;
      const declared = known.flatMap((file) => exportsOf(file).map((name) => `${name} ${file}`));
      return [...Map.groupBy(declared, (entry) => entry.split(" ")[0])].filter(([, places]) => places.length > 1);
    });
    expect(twice).to.deep.equal([]);
  });

  it("has no circles", () => {
    const done = new Set<string>();
    const walk = (file: string, trail: readonly string[]): void => {
      expect(trail, [...trail, file].join(" → ")).not.to.include(file);
      if (done.has(file)) return;
      for (const target of sourcesOf(file)) walk(target, [...trail, file]);
      done.add(file);
    };
    for (const file of SOURCES.keys()) walk(file, []);
  });
});

function namesOf(folder: string): string {
  try {
    return roomsOf(folder)
      .map(({ name }) => name)
      .join(", ");
  } catch {
    return "a circle";
  }
}
