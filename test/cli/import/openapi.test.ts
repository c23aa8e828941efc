import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import {
  faultsOf,
  fixture,
  importAll,
  importDocument,
  importFixture,
  manifestOf,
  namesIn,
  openShop,
  refusal,
  SITE,
  schemaOf,
  textsOf,
} from "./shop.ts";

/** The lines of a report that say what was left out. */
const leftOut = (report: string): string[] => [...report.matchAll(/^ {2}- (.*)$/gm)].map(([, line = ""]) => line);

describe("payphone import openapi", () => {
  it("lists what there is, and writes nothing, when nothing is chosen", async () => {
    const { dir, report } = await importFixture("rates.yaml", { selection: { names: [], tags: [], all: false } });
    expect(report).to.match(/^getRates +GET \/rates\/\{date\} +rates +Rates of a day$/m);
    expect(report).to.include("--operations 'getRates'");
    expect(Object.keys(await textsOf(dir))).to.deep.equal(["manifests/_site.yaml"]);
  });

  it("imports the operations that are named by id, by method and path, or by tag", async () => {
    const [named, tagged] = [await openShop(), await openShop()];
    const names = ["getRates", "POST /alerts"];
    await importAll(named, fixture("rates.yaml"), { selection: { names, tags: [], all: false } });
    expect(await namesIn(named)).to.have.members(["rates_get_rates", "rates_create_alert"]);
    await importAll(tagged, fixture("rates.yaml"), { selection: { names: [], tags: ["lists"], all: false } });
    expect(await namesIn(tagged)).to.deep.equal(["rates_list_currencies"]);
  });

  it("refuses a selection that is not there, says what was meant, and writes nothing", async () => {
    const dir = await openShop();
    const selection = { names: ["getRate"], tags: [], all: false };
    const message = await refusal(importAll(dir, fixture("rates.yaml"), { selection }));
    expect(message).to.include('getRate: no such operation or tag; did you mean "getRates"?');
    expect(await namesIn(dir)).to.deep.equal([]);
  });

  it("writes a manifest that a person would have written", async () => {
    const { dir } = await importFixture("rates.yaml", { price: "0.005" });
    const text = await readFile(join(dir, "manifests/rates_get_rates.yaml"), "utf8");
    expect(text).to.equal(`id: rates_get_rates
title: Rates of a day
description: The reference rates of one day, from one currency to others.
route: POST /v1/rates/get-rates
aliases: [ GET /v1/rates/get-rates ]
price: "0.005"
proxy:
  upstream: rates
  request: GET /rates/{date}
  query: { base: "{base}", symbols: "{symbols}" }
  headers: { x-trace: "{X_Trace}" }
hints: { readOnly: true, idempotent: true, destructive: false, openWorld: true }
input:
  type: object
  properties:
    date: { type: string, format: date }
    base: { type: string, description: "Default: EUR.", minLength: 3, maxLength: 3 }
    symbols:
      type: array
      items: { type: string }
    X_Trace: { type: string }
  required: [ date ]
output: Rates
tags: [ rates ]
examples:
  - input: { date: 2026-11-20, base: USD }
    output:
      base: USD
      date: 2026-11-20
      rates: { EUR: 0.91 }
`);
    expect(await faultsOf(dir)).to.deep.equal([]);
  });

  it("adds the upstream to _site.yaml and leaves every other line alone", async () => {
    const { dir } = await importFixture("pets.json");
    const lines = (await readFile(join(dir, "manifests/_site.yaml"), "utf8")).split("\n");
    const added = lines.filter((line) => !SITE.split("\n").includes(line));
    expect(added.map((line) => line.trim())).to.include.members([
      "- id: pets",
      "url: https://pets.example.com/api",
      "variable: PETS_URL",
      "key: { variable: PETS_KEY, query: api_key }",
    ]);
    expect(
      lines
        .filter((line) => !added.includes(line))
        .join("\n")
        .trim(),
    ).to.equal(SITE.trim());
  });

  it("pays what may leave traces first, and marks what a method promises", async () => {
    const { dir } = await importFixture("pets.json");
    expect(await manifestOf(dir, "pets_add_pet")).to.include({ charge: "first" });
    expect(await manifestOf(dir, "pets_list_pets")).not.to.have.property("charge");
    const { charge, hints } = await manifestOf(dir, "pets_remove_pet");
    expect([charge, hints]).to.deep.equal([
      "first",
      { readOnly: false, idempotent: true, destructive: true, openWorld: true },
    ]);
  });

  it("sends what callers may send, and answers what upstreams may answer, by one schema for each", async () => {
    const { dir } = await importFixture("people.yaml");
    const { input, output, examples } = await manifestOf(dir, "people_save_person");
    expect([input, output]).to.deep.equal(["PeoplePersonInput", "PeoplePerson"]);
    const [given, answered] = [await schemaOf(dir, "PeoplePersonInput"), await schemaOf(dir, "PeoplePerson")];
    expect(JSON.stringify(given)).to.include('"required":["password","born"]').and.not.include('"id"');
    expect(JSON.stringify(answered)).to.include('"required":["id","born"]').and.not.include('"password"');
    expect(JSON.stringify(given)).to.include('"exclusiveMinimum":0').and.include('"maximum":10');
    expect(JSON.stringify(given)).to.include('"enum":["1","2"]').and.not.include("(a+)+");
    expect((examples as { input: object }[])[0]?.input).to.include({ born: "1990-01-02" });
  });

  const TAKEN: Readonly<Record<string, readonly string[]>> = {
    "broken.yaml": ["broken_fine"],
    "files.yaml": [
      "files_find",
      "files_mend_page",
      "files_read_notes",
      "files_read_table",
      "files_send_file",
      "files_send_page",
      "files_send_picture",
    ],
    "odd-names.yaml": ["odd_names_get_search_kind_all", "odd_names_items_get", "odd_names_items_get_2"],
    "orders.yaml": ["orders_change_order", "orders_get_order"],
    "pets.json": ["pets_add_pet", "pets_list_pets", "pets_remove_pet", "pets_rename_pet"],
    "people.yaml": ["people_save_person"],
    "rates.yaml": ["rates_create_alert", "rates_get_rates", "rates_list_currencies"],
    "shared-bodies.json": ["shared_save", "shared_send"],
    "secured.yaml": ["secured_me", "secured_other"],
    "split/api.yaml": ["split_pets"],
    "trees.yaml": ["trees_leaf", "trees_pair", "trees_plant"],
  };
  for (const [name, ids] of Object.entries(TAKEN))
    it(`takes from ${name} what can be sold, and passes the check`, async () => {
      const { dir } = await importFixture(name);
      expect((await namesIn(dir)).sort()).to.deep.equal([...ids].sort());
      expect(await faultsOf(dir)).to.deep.equal([]);
    });

  it("takes a schema that refers to its own parts, and a tuple of any items", async () => {
    const { dir, report } = await importFixture("trees.yaml");
    expect(await schemaOf(dir, "TreesPair")).to.deep.equal({ $ref: "TreesDefsInner.json" });
    expect(await schemaOf(dir, "TreesDefsInner")).to.have.deep.nested.property("properties.both", {
      type: "array",
      items: {},
    });
    expect(leftOut(report)).to.deep.equal([
      "circle: its reference #/components/schemas/Circle/properties/round leads nowhere",
    ]);
  });

  it("takes nothing whose schema has a broken part, however many operations name it, nor an endless chain", async () => {
    const dir = await openShop();
    const toLink = (at: number) => [`C${at}`, { properties: { next: { $ref: `#/components/schemas/C${at + 1}` } } }];
    const broken = { type: "object", properties: { part: { $ref: "#/components/schemas/None" } } };
    const schemas = {
      Broken: broken,
      ...Object.fromEntries(Array.from({ length: 3000 }, (_, at) => toLink(at))),
      C3000: {},
    };
    const [whole, first] = [{ $ref: "#/components/schemas/Broken" }, { $ref: "#/components/schemas/C0" }];
    const answers = { one: whole, two: whole, many: { type: "array", items: whole }, long: first };
    const toOperation = ([operationId, schema]: [string, object]) => [
      `/${operationId}`,
      { get: { operationId, responses: { 200: { content: { "application/json": { schema } } } } } },
    ];
    const paths = Object.fromEntries(Object.entries(answers).map(toOperation));
    await writeFile(join(dir, "api.json"), JSON.stringify({ openapi: "3.0.0", paths, components: { schemas } }));
    const said = leftOut((await importAll(dir, join(dir, "api.json"))).report);
    const why = "its reference #/components/schemas/None leads nowhere";
    expect(said.slice(0, 3)).to.deep.equal([`one: ${why}`, `two: ${why}`, `many: ${why}`]);
    expect(said[3]).to.match(/^long: its output cannot be checked/);
  });

  it("takes bodies that operations of version 2.0 share, also when they stand beneath the operations", async () => {
    const { dir } = await importFixture("shared-bodies.json");
    expect((await manifestOf(dir, "shared_save")).proxy).to.deep.equal({
      upstream: "shared",
      request: "PUT /books",
      headers: { "content-type": "application/merge-patch+json" },
      body: "input",
    });
    expect((await manifestOf(dir, "shared_send")).proxy).to.deep.include({
      query: { shelf: "{shelf}" },
      encoding: "multipart",
      files: ["cover"],
    });
  });

  it("takes what another file refers to in the document itself", async () => {
    const { dir } = await importFixture("split/api.yaml");
    expect(await schemaOf(dir, "SplitHome")).to.have.nested.property("properties.street.type", "string");
    expect(await faultsOf(dir)).to.deep.equal([]);
  });

  it("reads the files of a document in a folder of any name", async () => {
    const dir = await openShop();
    const folder = join(dir, "größe #1, 5%25?");
    await cp(fixture("split"), folder, { recursive: true });
    await importAll(dir, join(folder, "api.yaml"));
    expect(await schemaOf(dir, "SplitHome")).to.have.nested.property("properties.street.type", "string");
  });

  it("sends a text in UTF-8, whatever charset the document names", async () => {
    const content = { "text/xml; charset=ISO-8859-1": { schema: { type: "string" } } };
    const { dir } = await importDocument({ tell: { method: "post", requestBody: { required: true, content } } });
    const { proxy } = await manifestOf(dir, "shelf_tell");
    expect(proxy).to.deep.include({ encoding: "text", headers: { "content-type": "text/xml; charset=utf-8" } });
  });

  it("says of everything that it leaves out why", async () => {
    const said = await Promise.all(
      ["broken.yaml", "files.yaml", "split/api.yaml"].map(async (name) => {
        const { report, isPartial } = await importAll(await openShop(), fixture(name));
        expect(isPartial).to.equal(true);
        return leftOut(report);
      }),
    );
    expect(said.flat()).to.deep.equal([
      "lost: its reference #/components/schemas/None leads nowhere",
      "look: HEAD has no answer that could be sold",
      "eat: its parameter jar is a cookie, which templates cannot write",
      "never: no example of its input could be made, and the document has none that fits its own schema",
      "readPage: it answers with a page in HTML, which is not passed on",
      "readSecret: its reference ../rates.yaml#/components/schemas/Rates leads nowhere",
    ]);
  });
});
