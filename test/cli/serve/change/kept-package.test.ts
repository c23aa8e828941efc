import { expect } from "chai";
import { edit, type Files, TOSS, writeFiles } from "../../../core/set/served-directory.ts";
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
});
