import fs from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { expect } from "chai";
import { closeServer, listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";
import {
  faultsOf,
  fixture,
  importAll,
  importDocument,
  importFixture,
  namesIn,
  openShop,
  refusal,
  SITE,
  schemaOf,
  textsOf,
  writeDocument,
} from "./shop.ts";

describe("a second import", () => {
  it("changes no byte when the document has not changed, whatever the operator has", async () => {
    const { dir } = await importFixture("rates.yaml", { price: "0.005" });
    const file = join(dir, "manifests/rates_get_rates.yaml");
    await writeFile(file, (await readFile(file, "utf8")).replace("title: Rates of a day", "title: Our rates"));
    const before = await textsOf(dir);
    const { report } = await importAll(dir, fixture("rates.yaml"));
    expect(report).to.include("3 services: nothing has changed").and.not.include("yours stays");
    expect(await textsOf(dir)).to.deep.equal(before);
  });

  it("takes over what the document changed, and keeps prices, texts and comments of the operator", async () => {
    const { dir } = await importFixture("rates.yaml", { price: "0.005" });
    const file = join(dir, "manifests/rates_get_rates.yaml");
    const edited = (await readFile(file, "utf8"))
      .replace('price: "0.005"', 'price: "0.02" # the big customer')
      .replace("title: Rates of a day", "title: Our rates");
    await writeFile(file, edited);
    const document = (await readFile(fixture("rates.yaml"), "utf8"))
      .replace("summary: Rates of a day", "summary: Rates of one day")
      .replace("/rates/{date}:", "/daily/{date}:")
      .replace("base: { type: string }", "base: { type: string, minLength: 3 }");
    await writeFile(join(dir, "rates.yaml"), document);
    const { report } = await importAll(dir, join(dir, "rates.yaml"));
    expect(report).to.include('proxy.request: "GET /rates/{date}" -> "GET /daily/{date}"');
    expect(report).to.include('title: yours stays, "Our rates"; the source says "Rates of one day"');
    expect(report).to.include('properties.base: {"type":"string"} -> {"type":"string","minLength":3}');
    const after = await readFile(file, "utf8");
    expect(after).to.include('price: "0.02" # the big customer').and.include("title: Our rates");
    expect(after).to.include("request: GET /daily/{date}");
    expect(await faultsOf(dir)).to.deep.equal([]);
  });

  it("takes the credential out of an API that no longer has one", async () => {
    const { dir } = await importDocument({ look: {} }, { security: [{ login: [] }] });
    const { report } = await importAll(dir, await writeDocument(dir, { look: {} }, { components: {} }));
    expect(report).to.include('key.scheme: "Bearer" -> nothing');
    expect((await textsOf(dir))["manifests/_site.yaml"]).to.not.match(/^ +key:/m);
    expect(await faultsOf(dir)).to.deep.equal([]);
  });

  it("takes over that what was an object is a text now", async () => {
    const dir = await openShop();
    const importOf = async (Book: object): Promise<void> => {
      const content = { "application/json": { schema: { $ref: "#/components/schemas/Book" } } };
      const more = { components: { schemas: { Book } } };
      await importAll(dir, await writeDocument(dir, { look: { responses: { 200: { content } } } }, more));
    };
    await importOf({ type: "object", properties: { title: { type: "string" } } });
    await importOf({ type: "string", maxLength: 9 });
    expect(await schemaOf(dir, "ShelfBook")).to.deep.equal({ type: "string", maxLength: 9 });
  });

  it("sets a new price where one is given, and shows it", async () => {
    const { dir } = await importFixture("rates.yaml", { price: "0.005" });
    const { report } = await importAll(dir, fixture("rates.yaml"), { price: "0.006" });
    expect(report.match(/price: "0.005" -> "0.006"/g)).to.have.length(3);
  });

  for (const [what, own, change] of [
    ["server", { servers: [{ url: "https://other.example.com" }] }, "url"],
    ["credential", { security: [{ app: [] }] }, "key.header, key.scheme"],
  ] as const)
    it(`is refused where it would give services of the first the ${what} of another operation`, async () => {
      const dir = await openShop();
      const document = await writeDocument(dir, {
        first: { security: [{ login: [] }] },
        other: { security: [{ login: [] }], ...own },
      });
      const choose = (...names: string[]) => ({ selection: { names, tags: [], all: false } });
      await importAll(dir, document, choose("first"));
      const before = await textsOf(dir);
      expect(await refusal(importAll(dir, document, choose("other")))).to.include(
        `would change the upstream shelf (${change}) for shelf_first, too`,
      );
      expect(await textsOf(dir)).to.deep.equal(before);
      await importAll(dir, document, choose("first", "other"));
      await importAll(dir, document, { ...choose("other"), upstream: "second" });
      expect(await faultsOf(dir)).to.deep.equal([]);
    });
});

describe("an import that cannot be done", () => {
  it("takes the place of no other schema that the shop has under the same name", async () => {
    const content = { "application/json": { schema: { $ref: "#/components/schemas/Book" } } };
    const Book = { type: "object", properties: { title: { type: "string" } } };
    const importInto = async (own: object) => {
      const dir = await openShop({ "schemas/ShelfBook.json": JSON.stringify(own) });
      const operations = { look: { responses: { 200: { content } } } };
      return importAll(dir, await writeDocument(dir, operations, { components: { schemas: { Book } } }));
    };
    expect((await importInto(Book)).isPartial).to.equal(false);
    expect(await refusal(importInto({ type: "object" }))).to.include("the shop has another schema ShelfBook;");
  });

  it("names the file of the shop that cannot be read", async () => {
    const { dir } = await importFixture("rates.yaml");
    const file = "manifests/rates_get_rates.yaml";
    await writeFile(join(dir, file), "id: [");
    const said = await refusal(importAll(dir, fixture("rates.yaml")));
    expect(said).to.equal(`${file} cannot be read: see "payphone check"`);
  });

  it("leaves nothing behind when a file cannot be written", async () => {
    const dir = await openShop();
    await mkdir(join(dir, "schemas/Rates.json"), { recursive: true }); // A folder stands in the file's place.
    await mkdir(join(dir, "schemas/Rates.json/inside"));
    const before = await textsOf(dir);
    await refusal(importAll(dir, fixture("rates.yaml")));
    expect(await textsOf(dir)).to.deep.equal(before);
  });

  it("does not take the place of a service or an upstream that somebody wrote", async () => {
    const own = { "manifests/rates_get_rates.yaml": "id: rates_get_rates\n" };
    const { report } = await importAll(await openShop(own), fixture("rates.yaml"), {
      selection: { names: ["getRates"], tags: [], all: false },
    });
    expect(report).to.include("the shop has another service rates_get_rates; import under another --upstream");
    const site = `${SITE}\nupstreams:\n  - { id: rates, title: Mine, url: "https://mine.example.com" }\n`;
    const dir = await openShop({ "manifests/_site.yaml": site.replace(/^upstreams:[\s\S]*?(?=^\S)/m, "") });
    expect(await refusal(importAll(dir, fixture("rates.yaml")))).to.include("name another with --upstream");
    expect(await namesIn(dir)).to.deep.equal([]);
  });

  it("is refused in a folder without a site, and for what is no OpenAPI document", async () => {
    const dir = await openShop();
    const empty = join(dir, "empty");
    await mkdir(empty);
    expect(await refusal(importAll(empty, fixture("rates.yaml")))).to.include("There is no manifests/_site.yaml here");
    await writeFile(join(dir, "list.json"), "[1]");
    expect(await refusal(importAll(dir, join(dir, "list.json")))).to.include("is no OpenAPI document");
    await writeFile(join(dir, "text.yaml"), "a: [");
    expect(await refusal(importAll(dir, join(dir, "text.yaml")))).to.include("is neither JSON nor YAML");
    expect(await refusal(importAll(dir, join(dir, "none.yaml")))).to.include("cannot be read (ENOENT)");
  });

  it("reads a document from a URL, with addresses relative to it, and says why when it cannot", async () => {
    const document = (await readFile(fixture("rates.yaml"), "utf8")).replace("https://rates.example.com/v1/", "/v1");
    const server = createServer((request, response) => {
      response.statusCode = request.url === "/openapi.yaml" ? 200 : 404;
      response.end(document);
    });
    const origin = await listenOnLoopback(server);
    try {
      const dir = await openShop();
      await importAll(dir, `${origin}/openapi.yaml`);
      expect(await readFile(join(dir, "manifests/_site.yaml"), "utf8")).to.include(`url: ${origin}/v1`);
      expect(await refusal(importAll(dir, `${origin}/none`))).to.include("answered with status 404");
    } finally {
      await closeServer(server);
    }
    expect(await refusal(importAll(await openShop(), `${origin}/openapi.yaml`))).to.include("cannot be fetched");
  });
});

describe("an import that is killed", () => {
  const { rename } = fs.promises;
  const setRename = (replacement: typeof rename): void => {
    fs.promises.rename = replacement;
    syncBuiltinESMExports();
  };
  after(() => setRename(rename));

  /** Imports until so many files have taken their places; whether there was one more. */
  async function importUntil(dir: string, document: string, most: number): Promise<boolean> {
    const { promise: isKilled, resolve } = Promise.withResolvers<true>();
    let count = 0;
    setRename(async (from, to) => {
      if (count === most) return new Promise<never>(() => resolve(true)); // Nothing runs any more, as after a kill.
      count += 1;
      await rename(from, to);
    });
    const whole = importAll(dir, document).then(() => false);
    const isCut = await Promise.race([isKilled, whole]);
    setRename(rename);
    return isCut;
  }

  /** What is left of drafts belongs to this process, which still runs. */
  const filesOf = async (dir: string): Promise<object> =>
    Object.fromEntries(Object.entries(await textsOf(dir)).filter(([file]) => !file.endsWith(".import")));

  it("leaves a sound shop wherever it was, and the next one completes it", async () => {
    const old = fixture("rates.yaml");
    const changed = (await readFile(old, "utf8"))
      .replace("listCurrencies", "allCurrencies")
      .replace("summary: Rates of a day", "summary: Rates of one day")
      .replace("base: { type: string }", "base: { type: string, minLength: 3 }");
    const whole = await openShop({ "rates.yaml": changed });
    await importAll(whole, old);
    await importAll(whole, join(whole, "rates.yaml"));
    const expected = await filesOf(whole);
    let isCut = true;
    for (let most = 0; isCut; most++) {
      const dir = await openShop({ "rates.yaml": changed });
      const [first, second] = [await importUntil(dir, old, most), await faultsOf(dir)];
      expect(second, `after ${most} files`).to.deep.equal([]);
      await importAll(dir, old);
      isCut = (await importUntil(dir, join(dir, "rates.yaml"), most)) || first;
      await importAll(dir, join(dir, "rates.yaml"));
      expect(toPlain(await filesOf(dir), dir), `after ${most} files`).to.deep.equal(toPlain(expected, whole));
    }
  });

  /** The notes name the folder. */
  const toPlain = (files: object, dir: string): unknown => JSON.parse(JSON.stringify(files).replaceAll(dir, ""));

  it("has its drafts removed by the next one", async () => {
    const draft = `.${2 ** 30}.0.import`; // No process has such an id.
    const dir = await openShop({ [`manifests/${draft}`]: "id: half" });
    await importAll(dir, fixture("rates.yaml"));
    expect(Object.keys(await textsOf(dir))).to.not.include(`manifests/${draft}`);
  });
});
