import { mkdir, rename, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import type { Run } from "../../../runtime/api/plugin.ts";
import { toIdleLent } from "../../../runtime/cli/set/check.ts";
import { loadSet } from "../../../runtime/cli/set/load.ts";
import { loadPlugins } from "../../../runtime/cli/set/plugins/load.ts";
import { toFaultLine } from "../../../runtime/core/set/faults.ts";
import { type Files, makeDirectory, TOSS, writeFiles } from "../../core/set/served-directory.ts";
import { toCall } from "../../support/sellers/call.ts";

const { "plugins/toss.ts": _, ...REST } = TOSS;
const PLUGIN = `import { createRequire } from "node:module";
import { definePlugin } from "#plugin";
import { side } from "./lib/side.ts";
import table from "./lib/table.json" with { type: "json" };

const { side: required } = createRequire(import.meta.url)("./lib/side.cjs");

export default definePlugin("toss", () => ({ toss: () => ({ sides: [OWN, side, table.side, required] }) }));
`;

/** The code of a release, in a folder of its own. */
const release = (side: string, folder: string): Files => ({
  [`${folder}/toss.ts`]: PLUGIN.replace("OWN", `"${side}"`),
  [`${folder}/lib/side.ts`]: `export const side: string = "${side}";`,
  [`${folder}/lib/side.cjs`]: `exports.side = "${side}";`,
  [`${folder}/lib/table.json`]: JSON.stringify({ side }),
});

/** Makes a link lead elsewhere in one step, as tools that change releases do. */
async function link(target: string, path: string): Promise<void> {
  await symlink(target, `${path}.new`);
  await rename(`${path}.new`, path);
}

/** What the plugin of a shop answers. */
async function toss(dir: string): Promise<unknown> {
  const set = await loadSet(dir);
  const { handlers, faults } = await loadPlugins(set, { ...toIdleLent(set), env: {} });
  expect([...set.faults, ...faults].map(toFaultLine)).to.deep.equal([]);
  return (handlers.get("toss.toss") as Run<unknown, { sides: unknown }>)({}, toCall());
}

describe("plugins behind symbolic links", () => {
  const heads = { sides: Array(4).fill("heads") };
  const tails = { sides: Array(4).fill("tails") };

  it("are those that the link of their folder leads to now", async () => {
    const dir = await makeDirectory({ ...REST, ...release("heads", "one"), ...release("tails", "two") });
    await link("one", join(dir, "plugins"));
    expect(await toss(dir)).to.deep.equal(heads);
    await link("two", join(dir, "plugins"));
    expect(await toss(dir)).to.deep.equal(tails);
    await link("one", join(dir, "plugins"));
    expect(await toss(dir)).to.deep.equal(heads);
  });

  it("are those of a mounted volume whose former files are gone", async () => {
    const dir = await makeDirectory({
      ...REST,
      ...release("heads", "plugins/..1"),
      ...release("tails", "plugins/..2"),
    });
    await link("..1", join(dir, "plugins/..data"));
    for (const name of ["toss.ts", "lib"]) await link(join("..data", name), join(dir, "plugins", name));
    expect(await toss(dir)).to.deep.equal(heads);
    await link("..2", join(dir, "plugins/..data"));
    await rm(join(dir, "plugins/..1"), { recursive: true });
    expect(await toss(dir)).to.deep.equal(tails);
  });

  it("may be outside of the shop, with what they import", async () => {
    const releases = await makeDirectory({ ...release("heads", "one"), ...release("tails", "two") });
    const dir = await makeDirectory(REST);
    await link(join(releases, "one"), join(dir, "plugins"));
    expect(await toss(dir)).to.deep.equal(heads);
    await link(join(releases, "two"), join(dir, "plugins"));
    expect(await toss(dir)).to.deep.equal(tails);
  });

  it("find what is beside the file that the link leads to", async () => {
    const dir = await makeDirectory({ ...REST, ...release("heads", "shared") });
    await mkdir(join(dir, "plugins"));
    await link("../shared/toss.ts", join(dir, "plugins/toss.ts"));
    expect(await toss(dir)).to.deep.equal(heads);
    await writeFiles(dir, release("tails", "shared"));
    expect(await toss(dir)).to.deep.equal(tails);
  });
});
