import { rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { edit, type Files, TOSS, writeFiles } from "../../core/set/served-directory.ts";
import { typePayphone } from "../../support/commands/commands.ts";
import { type OperatedShop, openOperatedShop } from "../../support/sellers/operator.ts";
import { json, stockFetch } from "../../support/sellers/stock-buyer.ts";

/** A plugin that gets at its data in each way that there is. @param folder of the data, as it imports them */
const plugin = (name: string, folder: string): string => `import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { definePlugin } from "#plugin";
import module from "${folder}/module.cjs";
import table from "${folder}/table.json" with { type: "json" };

const read = () => readFileSync(new URL("${folder}/text.txt", import.meta.url), "utf8");
const { rate: required } = createRequire(import.meta.url)("${folder}/table.json");
const text = read();

export default definePlugin("${name}", () => {
  const atSetup = read();
  return { toss: () => ({ sides: [], data: [table.rate, required, module.rate, text, atSetup] }) };
});
`;
const dataOf = (folder: string, rate: string): Files => ({
  [`${folder}/module.cjs`]: 'module.exports = require("./rate.cjs");',
  [`${folder}/rate.cjs`]: `exports.rate = "${rate}";`,
  [`${folder}/table.json`]: JSON.stringify({ rate }),
  [`${folder}/text.txt`]: rate,
});
/** A plugin that imports its code while it works. */
const LATE = `import { definePlugin } from "#plugin";

export default definePlugin("late", () => ({
  async toss() {
    const { late } = await import("../lib/late.ts");
    return { sides: [], data: late() };
  },
}));
`;
/** A plugin whose data are behind a link. */
const LINKED = `import { readFileSync } from "node:fs";
import { definePlugin } from "#plugin";

const read = () => readFileSync(new URL("./linked/text.txt", import.meta.url), "utf8");
const text = read();

export default definePlugin("linked", () => {
  const atSetup = read();
  return { toss: () => ({ sides: [], data: [text, text, text, atSetup, atSetup] }) };
});
`;
const toManifest = (id: string): string =>
  (TOSS["manifests/toss.yaml"] as string)
    .replace(/^id: toss/, `id: ${id}`)
    .replace("/v1/toss", `/v1/${id}`)
    .replace("toss.toss", `${id}.toss`);
/** Plugins that are a file and a folder, and one that imports its code late. */
const toFiles = (rate: string): Files => ({
  ...edit(TOSS, "schemas/TossResponse.json", '"required"', '"additionalProperties": true, "required"'),
  "manifests/flip.yaml": toManifest("flip"),
  "manifests/late.yaml": toManifest("late"),
  "plugins/late.ts": LATE,
  "manifests/linked.yaml": toManifest("linked"),
  "plugins/linked.ts": LINKED,
  ...dataOf("shared", rate),
  "lib/late.ts": `import { rate } from "./later.ts";\nexport const late = (): string[] => Array(5).fill(rate);\n`,
  "lib/later.ts": `export const rate: string = "${rate}";\n`,
  "plugins/toss.ts": plugin("toss", "./tables"),
  "plugins/flip/index.ts": plugin("flip", "."),
  ...dataOf("plugins/tables", rate),
  ...dataOf("plugins/flip", rate),
});

describe("the data and the imports of plugins", () => {
  let shop: OperatedShop;
  let dir: string;
  before(async () => {
    shop = await openOperatedShop();
    ({ dir } = shop);
    await writeFiles(dir, toFiles("old"));
    await symlink("../shared", join(dir, "plugins/linked"));
    await shop.restart();
  });
  after(() => shop.close());

  async function expectSold(rate: string, services = ["toss", "flip", "late", "linked"]): Promise<void> {
    const pay = await stockFetch(shop.sandbox, "base");
    for (const service of services) {
      const answer = await pay(`${shop.running.url}/v1/${service}`, json({}));
      expect(((await answer.json()) as { data: string[] }).data, service).to.deep.equal(Array(5).fill(rate));
    }
  }
  const type = async (...args: string[]): Promise<string> => {
    const { code, said } = await typePayphone(dir, args, { PAYPHONE_DATA_DIR: shop.dataDir });
    expect(code, said).to.equal(0);
    return said;
  };
  const countModules = async (): Promise<number> =>
    (JSON.parse(await type("status", "--json")) as { modules: number }[])[0]?.modules ?? 0;

  it("change when the shop's folder is applied, and are those of before after a rollback", async () => {
    await expectSold("old", ["toss", "flip"]);
    await writeFiles(dir, toFiles("new"));
    await rm(join(dir, "lib/later.ts"));
    await expectSold("old"); // The first call of `late` imports what its file was when the shop was started.
    await writeFiles(dir, toFiles("newer"));
    await rm(join(dir, "lib/late.ts"));
    await expectSold("old");
    await writeFiles(dir, toFiles("new"));
    await type("apply");
    await expectSold("new");
    const modules = await countModules();
    await type("rollback");
    await expectSold("old");
    expect(await countModules(), "those of the kept copy are loaded, too").to.be.above(modules);
    await type("apply");
    await expectSold("new");
  });
});
