import { expect } from "chai";
import type { Run } from "../../../runtime/api/plugin.ts";
import { Problem } from "../../../runtime/api/problem.ts";
import { checkDir, toIdleLent } from "../../../runtime/cli/set/check.ts";
import { loadPlugins, loadSet } from "../../../runtime/cli/set/load.ts";
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

describe("a plugin that comes in a package", () => {
  const forms = {
    "an ES module": shop(
      `import { definePlugin, Problem } from "payphone/plugin";\nexport const toss = ${BODY}`,
      "m.mjs",
    ),
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
