import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { importAll, openShop } from "./shop.ts";

describe("an import of more than 500 operations", () => {
  it("says how far it is", async () => {
    const dir = await openShop();
    const read = { responses: { 204: { description: "Done" } } };
    const paths = Object.fromEntries(Array.from({ length: 501 }, (_, at) => [`/parts/${at}`, { get: read }]));
    const location = join(dir, "many.json");
    await writeFile(location, JSON.stringify({ openapi: "3.1.0", info: { title: "Parts", version: "1" }, paths }));
    const said: string[] = [];
    await importAll(dir, location, { isDryRun: true, say: (line) => said.push(line) });
    expect(said).to.deep.equal(["500 of 501 operations have been read", "Checking 501 services"]);
  });
});
