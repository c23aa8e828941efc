import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import {
  faultsOf,
  fixture,
  importAll,
  importDocument,
  importFixture,
  manifestOf,
  openShop,
  refusal,
  writeDocument,
} from "./shop.ts";

describe("an import of many operations", () => {
  it("suggests a command that keeps what was typed, quoted for a shell", async () => {
    const dir = await openShop({ "a b.json": await readFile(fixture("rates.yaml"), "utf8") });
    const location = join(dir, "a b.json");
    const selection = { names: [], tags: [], all: false };
    const { report } = await importAll(dir, location, { selection, upstream: "own" });
    expect(report).to.include(
      `  npx payphone import openapi '${location}' --upstream own --operations 'getRates' --price`,
    );
  });

  it("says that names clash, that descriptions are too long, and that a model would see too many tools", async () => {
    const answer = { description: "ok", content: { "application/json": { schema: { type: "object" } } } };
    const names = ["getA", "get-a", ...Array.from({ length: 39 }, (_, at) => `getNumber${at}`)];
    const paths = names.map((operationId, at) => {
      const description = at === 2 ? "Many words. ".repeat(50) : "One.";
      return [`/${at}`, { get: { operationId, description, responses: { 200: answer } } }] as const;
    });
    const info = { title: "Many", version: "1" };
    const document = {
      openapi: "3.1.0",
      info,
      servers: [{ url: "https://many.example.com" }],
      paths: Object.fromEntries(paths),
    };
    const dir = await openShop({ "many.json": JSON.stringify(document) });
    const { report } = await importAll(dir, join(dir, "many.json"));
    expect(report)
      .to.include("note: names clash, and are numbered: get-a is many_get_a_2")
      .and.to.include("note: descriptions were cut to 450 characters, which is what directories take: many_get_number0")
      .and.to.include("note: the shop has 41 services: more than 40 tools at /mcp");
  });

  it("says first what is charged when, however much there is to say of parameters", async () => {
    const parametersOf = (at: number) => [{ name: `X${at}-Api-Key`, in: "header", schema: { type: "string" } }];
    const schema = { type: "object", properties: { success: { type: "boolean" } } };
    const responses = { 200: { content: { "application/json": { schema } } } };
    const names = Array.from({ length: 30 }, (_, at) => `send${at}`);
    const operations = names.map(
      (name, at) => [name, { method: "post", parameters: parametersOf(at), responses }] as const,
    );
    const { report } = await importDocument(Object.fromEntries(operations));
    expect(report)
      .to.include("note: POST may leave traces, so it is paid first: shelf_send0")
      .and.to.include("note: answers may report a failure with a good status, and are charged: shelf_send0")
      .and.to.include("note: and 13 more\n");
  });

  it("has paid first what was a GET and may leave traces now, whatever the price of the shop is", async () => {
    const { dir } = await importDocument({ look: {}, see: {}, send: { method: "post" } });
    const file = join(dir, "manifests/shelf_see.yaml");
    await writeFile(file, (await readFile(file, "utf8")).replace(/^price: .*\n/m, ""));
    const chargeOf = async (id: string) => (await manifestOf(dir, `shelf_${id}`)).charge;
    const post = { method: "post" };
    await importAll(dir, await writeDocument(dir, { look: post, see: post, send: {} }));
    expect(await Promise.all(["look", "see", "send"].map(chargeOf))).to.deep.equal(["first", undefined, undefined]);
    expect(await manifestOf(dir, "shelf_see")).not.to.have.property("price");
  });

  it("is refused where what the document no longer has would not fit a changed schema, and says what to delete", async () => {
    const write = (names: readonly string[], type: string) => {
      const schema = {
        type: "object",
        properties: { book: { $ref: "#/components/schemas/Book" } },
        required: ["book"],
      };
      const operation = {
        method: "post",
        requestBody: { required: true, content: { "application/json": { schema } } },
      };
      const operations = Object.fromEntries(names.map((name) => [name, operation]));
      return writeDocument(dir, operations, { components: { schemas: { Book: { type } } } });
    };
    const dir = await openShop();
    await importAll(dir, await write(["add", "lend"], "string"));
    const document = await write(["add"], "object");
    expect(await refusal(importAll(dir, document))).to.match(
      /^Nothing was written.*:\nno longer in the source; delete these files, and import again:\nmanifests\/shelf_lend\.yaml.*$/,
    );
    await rm(join(dir, "manifests/shelf_lend.yaml"));
    await importAll(dir, document);
    expect(await faultsOf(dir)).to.deep.equal([]);
  });

  it("says that an edit of the operator's is in the way of what the document has changed", async () => {
    const toQuery = (...names: string[]) => names.map((name) => ({ name, in: "query", schema: { type: "string" } }));
    const { dir } = await importDocument({ look: { parameters: toQuery("a") } });
    const file = join(dir, "manifests/shelf_look.yaml");
    await writeFile(
      file,
      (await readFile(file, "utf8")).replace("a: { type: string }", "a: { type: string, maxLength: 9 }"),
    );
    const document = await writeDocument(dir, { look: { parameters: toQuery("a", "b") } });
    expect((await importAll(dir, document)).report)
      .to.include('- look: it would not pass the check: proxy.query.b "{b}": the input has no field "b"')
      .and.to.include("; you have edited input, where the source has changed, too: follow it there, or delete");
    await writeFile(file, (await readFile(file, "utf8")).replace("    a: {", "    b: { type: string }\n    a: {"));
    expect((await importAll(dir, document)).report).to.include('proxy.query: {"a":"{a}"} -> ');
  });

  it("names the operations of version 3.2 that have further methods", async () => {
    const copied = { additionalOperations: { COPY: { operationId: "copy", responses: {} } } };
    const paths = { "/books": { query: { operationId: "find", responses: {} }, ...copied } };
    const { report } = await importDocument({}, { openapi: "3.2.0", paths });
    expect(report)
      .to.include("  - find: its method QUERY cannot be sent")
      .and.to.include("  - copy: its method COPY cannot be sent");
  });
});

describe("what earlier imports have left", () => {
  it("is named: services that the document no longer has", async () => {
    const { dir } = await importFixture("rates.yaml");
    const document = (await readFile(fixture("rates.yaml"), "utf8"))
      .replace("listCurrencies", "allCurrencies")
      .replace("/currencies:", "/all-currencies:");
    await writeFile(join(dir, "rates.yaml"), document);
    const { report } = await importAll(dir, join(dir, "rates.yaml"));
    expect(report).to.match(
      /manifests\/rates_list_currencies\.yaml is no longer in the source; .*paid first, refunded$/m,
    );
  });

  it("is named: services that the document only calls otherwise, which work", async () => {
    const { dir } = await importFixture("rates.yaml");
    const document = (await readFile(fixture("rates.yaml"), "utf8")).replace("listCurrencies", "allCurrencies");
    await writeFile(join(dir, "rates.yaml"), document);
    const { report } = await importAll(dir, join(dir, "rates.yaml"));
    expect(report).to.not.include("no longer in the source");
    expect(report.match(/^.*rates_list_currencies.*$/gm)).to.deep.equal([
      "  manifests/rates_list_currencies.yaml is manifests/rates_all_currencies.yaml in the source now; both send the same request: delete the one that is not wanted",
    ]);
  });

  it("is named: services that are gone beside others of their path, which only a query or an input tells apart", async () => {
    const dir = await openShop();
    const toPaths = (...paths: readonly string[]) =>
      Object.fromEntries(
        paths.map((path) => [
          path,
          { get: { operationId: path, responses: { 200: { content: { "application/json": {} } } } } },
        ]),
      );
    const write = (...paths: readonly string[]) => writeDocument(dir, {}, { paths: toPaths(...paths) });
    const kept = ["/x?action=list", "/y#a", "/y#b"];
    await importAll(dir, await write(...kept, "/x?action=get", "/x?action=old", "/y#c"));
    const { report } = await importAll(dir, await write(...kept, "/x?action=get#now", "/x?action=new"));
    expect(report.match(/(?<=^ {2}manifests\/).* in the source/gm)?.sort()).to.deep.equal([
      "shelf_x_action_get.yaml is manifests/shelf_x_action_get_now.yaml in the source",
      "shelf_x_action_old.yaml is no longer in the source",
      "shelf_y_c.yaml is no longer in the source",
    ]);
  });

  it("is named: schemas that are used no more, and no others", async () => {
    const toAnswer = (name: string) => ({
      responses: { 200: { content: { "application/json": { schema: { $ref: `#/components/schemas/${name}` } } } } },
    });
    const toObject = (properties: object) => ({ type: "object", properties });
    const schemas = {
      Book: toObject({ author: { $ref: "#/components/schemas/Author" }, form: { $ref: "#/components/schemas/Form" } }),
      Author: toObject({ name: { type: "string" } }),
      Form: toObject({ pages: { type: "integer" } }),
      Shelf: toObject({ form: { $ref: "#/components/schemas/Form" } }),
    };
    const more = { components: { schemas } };
    const { dir } = await importDocument({ look: toAnswer("Book"), list: toAnswer("Shelf") }, more);
    const { report } = await importAll(dir, await writeDocument(dir, { list: toAnswer("Shelf") }, more));
    expect(report.match(/^.*is used by nothing else.*$/gm)).to.deep.equal([
      "  schemas/ShelfAuthor.json is used by nothing else any more; delete it, too",
      "  schemas/ShelfBook.json is used by nothing else any more; delete it, too",
    ]);
    for (const file of ["manifests/shelf_look.yaml", "schemas/ShelfAuthor.json", "schemas/ShelfBook.json"])
      await rm(join(dir, file));
    expect(await faultsOf(dir)).to.deep.equal([]);
    expect((await importAll(dir, join(dir, "api.json"))).report).to.not.include("delete");
  });
});
