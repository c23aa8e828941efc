import { writeFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { importAll, namesIn, openShop, refusal } from "./shop.ts";

describe("an import of more than 500 operations", () => {
  /** Writes a document of 501 operations. */
  async function writeMany(dir: string): Promise<string> {
    const read = { responses: { 204: { description: "Done" } } };
    const paths = Object.fromEntries(Array.from({ length: 501 }, (_, at) => [`/parts/${at}`, { get: read }]));
    const location = join(dir, "many.json");
    await writeFile(location, JSON.stringify({ openapi: "3.1.0", info: { title: "Parts", version: "1" }, paths }));
    return location;
  }

  it("says how far it is", async () => {
    const dir = await openShop();
    const location = await writeMany(dir);
    const said: string[] = [];
    await importAll(dir, location, { isDryRun: true, say: (line) => said.push(line) });
    expect(said).to.deep.equal(["500 of 501 operations have been read", "Checking 501 services"]);
  });

  it("overwrites nothing that somebody has edited meanwhile", async () => {
    const dir = await openShop();
    const site = join(dir, "manifests/_site.yaml");
    const edited = (await readFile(site, "utf8")).replace(/^title: .*/m, "title: Edited");
    const say = (line: string): void => void (line.startsWith("Checking") && writeFileSync(site, edited));
    expect(await refusal(importAll(dir, await writeMany(dir), { say }))).to.equal(
      "Nothing was written: manifests/_site.yaml was changed meanwhile, by hand or by another import; import again",
    );
    expect([await readFile(site, "utf8"), await namesIn(dir)]).to.deep.equal([edited, []]);
  });
});
