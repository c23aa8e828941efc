import { mkdir, rename, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import type { Run } from "../../../runtime/api/plugin.ts";
import { Problem } from "../../../runtime/api/problem.ts";
import { checkDir, toIdleLent } from "../../../runtime/cli/set/check.ts";
import { loadSet } from "../../../runtime/cli/set/load.ts";
import { loadPlugins } from "../../../runtime/cli/set/plugins/load.ts";
import { toFaultLine } from "../../../runtime/core/set/faults.ts";
import { type Files, makeDirectory, TOSS } from "../../core/set/served-directory.ts";
import { toCall } from "../../support/sellers/call.ts";

/** A shop that sells a plugin of a package, and has a payphone of its own beside that. */
const shop = (words: string, name: string): Files => ({
  ...TOSS,
  "package.json": '\uFEFF{ "type": "module", "dependencies": { "coins": "1.0.0" } }', // As Windows programs write it.
  "plugins/toss.ts": 'import { toss } from "coins";\nexport default toss;\n',
  "node_modules/coins/package.json": JSON.stringify({ name: "coins", version: "1.0.0", main: `./${name}` }),
  [`node_modules/coins/${name}`]: words,
  "node_modules/payphone/package.json": '{ "name": "payphone", "type": "module", "exports": { "./plugin": "./x.js" } }',
  "node_modules/payphone/x.js":
    "export class Problem extends Error {}\nexport const definePlugin = (name, setup) => ({ name, setup });",
});
const BODY = `definePlugin("toss", () => ({ toss: () => { throw new Problem("not-found", "No coin is there"); } }));`;
const ES_MODULE = `import { definePlugin, Problem } from "payphone/plugin";\nexport const toss = ${BODY}`;

/** A shop whose package is a link to a folder elsewhere. @param isTaken whether a file of a package is there */
async function makeLinked(isTaken: (file: string) => boolean, more: Files = {}): Promise<[string, string]> {
  const files = Object.entries(shop(ES_MODULE, "m.mjs"));
  const isOfPackage = ([file]: [string, string]): boolean => file.startsWith("node_modules/");
  const elsewhere = await makeDirectory(
    Object.fromEntries(files.filter(isOfPackage).filter(([file]) => isTaken(file))),
  );
  const dir = await makeDirectory({ ...Object.fromEntries(files.filter((file) => !isOfPackage(file))), ...more });
  await rename(join(elsewhere, "node_modules/coins"), join(elsewhere, "coins"));
  await mkdir(join(dir, "node_modules"));
  await symlink(join(elsewhere, "coins"), join(dir, "node_modules/coins"));
  return [elsewhere, dir];
}

describe("a plugin that comes in a package", () => {
  const forms = {
    "an ES module": shop(ES_MODULE, "m.mjs"),
    CommonJS: shop(`const { definePlugin, Problem } = require("payphone/plugin");\nexports.toss = ${BODY}`, "c.cjs"),
  };
  for (const [form, files] of Object.entries(forms))
    it(`throws problems that the payphone which sells it knows, though another is installed beside it: ${form}`, async () => {
      const set = await loadSet(await makeDirectory(files));
      const { handlers, faults } = await loadPlugins(set, { ...toIdleLent(set), env: {} });
      expect([...set.faults, ...faults].map(toFaultLine)).to.deep.equal([]);
      const toss = handlers.get("toss.toss") as Run<unknown, unknown>;
      expect(() => toss({}, toCall())).to.throw(Problem, "No coin is there");
    });

  for (const [beside, isTaken] of [
    ["another payphone", () => true],
    ["none", (file: string) => !file.includes("payphone")],
  ] as const)
    it(`does so, too, where it is linked from a folder elsewhere, with ${beside} beside it`, async () => {
      const [elsewhere, dir] = await makeLinked(isTaken);
      const set = await loadSet(dir);
      const { handlers, faults } = await loadPlugins(set, { ...toIdleLent(set), env: {} });
      expect([...set.faults, ...faults].map(toFaultLine), elsewhere).to.deep.equal([]);
      const toss = handlers.get("toss.toss") as Run<unknown, unknown>;
      expect(() => toss({}, toCall())).to.throw(Problem, "No coin is there");
    });

  it("is to be installed from its folder, where it is linked and package.json does not name it", async () => {
    const [elsewhere, dir] = await makeLinked(() => true, { "package.json": '{ "type": "module" }' });
    const [fault] = await checkDir(dir);
    expect(fault?.message).to.include(`not in the shop's package.json: run "npm install ${elsewhere}/coins" in ${dir}`);
  });

  it("has what a package throws at it reported at the plugin's own line, where it can be mended", async () => {
    const files = {
      ...shop("export const side = () => { throw new Error('no coin'); };", "m.mjs"),
      "plugins/toss.ts": `import { side } from "coins";
import { definePlugin } from "payphone/plugin";
export default definePlugin("toss", () => ({ toss: side() }));
`,
    };
    const faults = await checkDir(await makeDirectory(files));
    expect(faults.map(toFaultLine)).to.deep.equal(["plugins/toss.ts:3:52 plugin-failed no coin"]);
  });
});
