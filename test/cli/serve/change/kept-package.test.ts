import { symlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { edit, type Files, makeDirectory, TOSS, writeFiles } from "../../../core/set/served-directory.ts";
import { typePayphone } from "../../../support/commands/commands.ts";
import { type OperatedShop, openOperatedShop } from "../../../support/sellers/operator.ts";

const PLUGIN = `import { side } from "coins";
import { definePlugin } from "#plugin";
export default definePlugin("toss", () => ({ toss: () => ({ sides: [side] }) }));
`;
const packageOf = (version: string): Files => ({
  "node_modules/coins/package.json": JSON.stringify({ name: "coins", version, type: "module", main: "./coins.js" }),
  "node_modules/coins/coins.js": `export const side = "${version}";`,
});
const SHOP: Files = {
  ...TOSS,
  ...packageOf("1.0.0"),
  "package.json": '{ "type": "module", "dependencies": { "coins": "*" } }',
  "plugins/toss.ts": PLUGIN,
};
const KEPT = "plugins use coins 1.0.0 until a restart, and 2.0.0 is installed";

/** The files of a folder, by their paths in it. */
const pick = (files: Files, folder: string): Files =>
  Object.fromEntries(Object.entries(files).map(([file, text]) => [file.replace(folder, ""), text]));

describe("a package of plugins that was updated while the shop sells", () => {
  let shop: OperatedShop;
  before(async () => {
    shop = await openOperatedShop(SHOP);
  });
  after(() => shop.close());

  const type = async (...args: string[]): Promise<string> =>
    (await typePayphone(shop.dir, args, { PAYPHONE_DATA_DIR: shop.dataDir })).said;

  it("is said to be sold with a restart only, by each command that changes or shows the shop", async () => {
    for (const command of ["diff", "status"]) expect(await type(command)).not.to.include("coins");
    await writeFiles(shop.dir, packageOf("2.0.0"));
    expect(await type("diff")).to.match(new RegExp(`^nothing to apply: .* is sold\nwarning  ${KEPT}\n$`));
    await writeFiles(shop.dir, edit(SHOP, "manifests/toss.yaml", "0.01", "0.02"));
    await writeFiles(shop.dir, packageOf("2.0.0"));
    expect(await type("apply")).to.match(new RegExp(`is sold now: .*\nwarning  ${KEPT}\n$`));
    expect(await type("status")).to.match(new RegExp(`^warning  In process \\d+ ${KEPT}$`, "m"));
    expect(await type("rollback")).to.include(KEPT);
  });

  it("is named also where it is linked from a folder elsewhere, in which a file has changed", async () => {
    const elsewhere = await makeDirectory(pick(packageOf("1.0.0"), "node_modules/coins/"));
    await writeFiles(shop.dir, { "plugins/toss.ts": PLUGIN.replace("coins", "linked") });
    await symlink(elsewhere, join(shop.dir, "node_modules/linked"));
    await writeFiles(shop.dir, {
      "package.json": '{ "type": "module", "dependencies": { "coins": "*", "linked": "*" } }',
    });
    expect(await type("apply"))
      .to.include("is sold now")
      .and.not.to.include("linked");
    await utimes(join(elsewhere, "coins.js"), 1, 4_000_000_000);
    const warning = `warning  plugins use linked as it was until a restart, and files in ${elsewhere} have changed\n`;
    expect(await type("diff")).to.include(warning);
  });
});
