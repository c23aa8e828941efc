import { rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import type { Run } from "../../../runtime/api/plugin.ts";
import { Problem } from "../../../runtime/api/problem.ts";
import { toIdleLent } from "../../../runtime/cli/set/check.ts";
import { loadSet } from "../../../runtime/cli/set/load.ts";
import { loadPlugins } from "../../../runtime/cli/set/plugins/load.ts";
import { toFaultLine } from "../../../runtime/core/set/faults.ts";
import { type Files, makeDirectory, TOSS, writeFiles } from "../../core/set/served-directory.ts";
import { toCall } from "../../support/sellers/call.ts";

const plugin = (imports: string): Files => ({
  ...TOSS,
  "plugins/toss.ts": `import { createRequire } from "node:module";
import { definePlugin } from "#plugin";
${imports}
export default definePlugin("toss", () => ({ toss: () => outer.side }));
`,
});
const IMPORTED = plugin('import outer from "../lib/outer.cjs";');

const KEPT =
  "lib/inner.mjs:1:1 plugin-failed this ES module is loaded with require, for which Node loads it once, and it has changed: restart payphone, or import it";

/** What the handler of a folder returns, or the faults of the folder. */
async function sell(dir: string): Promise<() => unknown> {
  const set = await loadSet(dir);
  const { handlers, faults } = await loadPlugins(set, { ...toIdleLent(set), env: {} });
  const run = handlers.get("toss.toss") as Run<unknown, unknown> | undefined;
  return () => (run ? run({}, toCall()) : faults.map(toFaultLine));
}

describe("what a plugin's CommonJS requires", () => {
  const ways: Readonly<Record<string, readonly [Files, toInner: (side: string) => Files]>> = {
    "read by a module": [
      { ...IMPORTED, "lib/outer.cjs": 'const inner = require("./inner.cjs");\nexports.side = inner.side;' },
      (side) => ({ "lib/inner.cjs": `exports.side = "${side}";` }),
    ],
    "passed on by a module": [
      { ...IMPORTED, "lib/outer.cjs": 'module.exports = require("./inner.cjs");' },
      (side) => ({ "lib/inner.cjs": `exports.side = "${side}";` }),
    ],
    "named without its extension": [
      { ...IMPORTED, "lib/outer.cjs": 'module.exports = require("./inner");' },
      (side) => ({ "lib/inner/index.js": `exports.side = "${side}";`, "lib/inner/package.json": "{}" }),
    ],
    "required by a function that createRequire has made": [
      plugin('const outer = createRequire(import.meta.url)("../lib/inner.cjs");'),
      (side) => ({ "lib/inner.cjs": `exports.side = "${side}";` }),
    ],
    "required under another name": [
      plugin('const load = createRequire(new URL(".", import.meta.url));\nconst outer = load(`../lib/inner.cjs`);'),
      (side) => ({ "lib/inner.cjs": `exports.side = "${side}";` }),
    ],
    "data that is required": [
      plugin('const require = createRequire(import.meta.url);\nconst outer = require("../lib/inner.json");'),
      (side) => ({ "lib/inner.json": JSON.stringify({ side }) }),
    ],
  };
  for (const [way, [files, toInner]] of Object.entries(ways))
    it(`is what its file has now, each time that the plugin is loaded: ${way}`, async () => {
      const dir = await makeDirectory({ ...files, ...toInner("heads") });
      const first = await sell(dir);
      const sides = [first()];
      for (const side of ["tails", "edge", "heads", "tails"]) {
        await writeFiles(dir, toInner(side));
        sides.push((await sell(dir))());
      }
      expect(sides).to.deep.equal(["heads", "tails", "edge", "heads", "tails"]);
      expect(first(), "the set that was loaded first").to.equal("heads");
    });

  for (const name of ["inner.cjs", "inner.json", "inner"])
    it(`stays what it was in the sets that were loaded before, also when it is required during a call: ${name}`, async () => {
      const get = `get: () => require("./${name}").side`;
      const dir = await makeDirectory({
        ...IMPORTED,
        "lib/outer.cjs": `Object.defineProperty(exports, "side", { ${get} });`,
      });
      const sold: { readonly side: string; run(): unknown }[] = [];
      for (const side of ["heads", "tails", "edge"]) {
        const code = name.endsWith(".json") ? JSON.stringify({ side }) : `exports.side = "${side}";`;
        await writeFiles(dir, { [name === "inner" ? "lib/inner.js" : `lib/${name}`]: code, "lib/package.json": "{}" });
        const run = await sell(dir);
        sold.push({ side, run });
        for (const one of sold) expect(one.run()).to.equal(one.side);
      }
    });

  it("may be the contract and packages, of which the process has one copy", async () => {
    const dir = await makeDirectory({
      ...TOSS,
      "package.json": JSON.stringify({ type: "commonjs", dependencies: { coin: "1.0.0" } }),
      "node_modules/coin/index.js": 'exports.side = "heads";',
      "plugins/toss.ts": `const { definePlugin, Problem } = require("payphone/plugin") as typeof import("payphone/plugin");
const { side } = require("coin");
module.exports = definePlugin("toss", () => ({ toss: () => [side, Problem] }));
`,
    });
    expect((await sell(dir))()).to.deep.equal(["heads", Problem]);
  });

  it("may be an ES module that another plugin imports at the same time", async () => {
    const dir = await makeDirectory({
      ...plugin('const outer = createRequire(import.meta.url)("coin");'),
      "manifests/flip.yaml": TOSS["manifests/toss.yaml"]!.replaceAll("toss", "flip"),
      "plugins/flip.ts":
        'import "coin";\nimport { definePlugin } from "#plugin";\nexport default definePlugin("flip", () => ({ flip() {} }));',
      "package.json": JSON.stringify({ type: "module", dependencies: { coin: "1.0.0" } }),
      "node_modules/coin/package.json": JSON.stringify({ type: "module", exports: "./index.js" }),
      "node_modules/coin/index.js": 'export * from "./near.js";',
      "node_modules/coin/near.js": 'export * from "./far.js";',
      "node_modules/coin/far.js": 'export const side = "heads";',
    });
    expect((await sell(dir))()).to.equal("heads");
  });

  it("stays one module for all plugins' modules while no file of it changes", async () => {
    const files = {
      "lib/outer.cjs": 'module.exports = require("./inner.cjs");',
      "lib/inner.cjs": "exports.side = {};",
    };
    const dir = await makeDirectory({ ...IMPORTED, ...files });
    const first = (await sell(dir))();
    await writeFiles(dir, plugin('import outer from "../lib/outer.cjs";\n// Changed.'));
    expect((await sell(dir))()).to.equal(first);
  });

  it("is a fault when it is an ES module that has changed, which Node cannot load anew", async () => {
    const toInner = (side: string): Files => ({ "lib/inner.mjs": `export const side = "${side}";` });
    const dir = await makeDirectory({
      ...IMPORTED,
      "lib/outer.cjs": 'exports.side = require("./inner.mjs").side;',
      ...toInner("heads"),
    });
    const first = await sell(dir);
    await writeFiles(dir, toInner("tails"));
    expect((await sell(dir))()).to.deep.equal([KEPT]);
    expect(first()).to.equal("heads");
    await writeFiles(dir, toInner("heads"));
    expect((await sell(dir))()).to.equal("heads");
    await rm(join(dir, "lib/inner.mjs"));
    await writeFiles(dir, { "lib/outer.cjs": 'exports.side = "edge";' });
    expect((await sell(dir))()).to.equal("edge");
  });

  it("is a fault, too, when an ES module has required it", async () => {
    const toInner = (side: string): Files => ({ "lib/inner.mjs": `export const side = "${side}";` });
    const imports = 'const outer = createRequire(import.meta.url)("../lib/inner.mjs");';
    const dir = await makeDirectory({ ...plugin(imports), ...toInner("heads") });
    await sell(dir);
    await writeFiles(dir, toInner("tails"));
    expect((await sell(dir))()).to.deep.equal([KEPT]);
    await writeFiles(dir, plugin('import * as outer from "../lib/inner.mjs";'));
    expect((await sell(dir))()).to.equal("tails");
  });

  it("may have been required by the shop's own program, also as an ES module", async () => {
    const files = {
      "lib/inner.mjs": 'export const side = "heads";',
      "lib/outer.cjs": 'module.exports = require("./inner.mjs");',
    };
    const dir = await makeDirectory({ ...IMPORTED, ...files });
    createRequire(join(dir, "app.cjs"))("./lib/outer.cjs");
    expect((await sell(dir))()).to.equal("heads");
  });

  it("may have been imported by the shop's own program, as JSON", async () => {
    const inner = 'import outer from "../lib/inner.json" with { type: "json" };';
    const dir = await makeDirectory({ ...plugin(inner), "lib/inner.json": '{ "side": "heads" }' });
    await import(pathToFileURL(join(dir, "lib/inner.json")).href, { with: { type: "json" } });
    expect((await sell(dir))()).to.equal("heads");
  });
});

describe("a plugin that imports, in a shop whose package.json says CommonJS", () => {
  it("is told what to set there", async () => {
    const dir = await makeDirectory({ ...TOSS, "package.json": JSON.stringify({ type: "commonjs" }) });
    expect((await sell(dir))()).to.deep.equal([
      `plugins/toss.ts:1:1 plugin-failed Cannot use import statement outside a module: set "type": "module" in the shop's package.json`,
    ]);
  });
});
