import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { openProxyShop } from "../../support/sellers/proxy-shop.ts";
import { faultsOf, importDocument, manifestOf } from "./shop.ts";

const text = { type: "string" };

/** An operation with a needed query parameter. */
const asked = (schema: object, more: object = {}) => ({
  parameters: [{ name: "x", in: "query", required: true, schema, ...more }],
});

const json = (schema: object) => ({ content: { "application/json": { schema } } });

describe("the example of an imported operation", () => {
  it("is made of the schema where the document's own could not be sent", async () => {
    const address = { ...text, format: "uri" };
    const list = { type: "array", items: text };
    const { dir, report } = await importDocument({
      inside: asked(address, { example: "http://localhost:3000/hook" }),
      commas: asked(list, { explode: false, example: ["a,b", "c"] }),
      second: asked(address, { examples: { a: { value: "http://[::1]/" }, b: { value: "https://a.example.com/" } } }),
    });
    expect(report).to.include("3 services").and.not.to.include("left out");
    expect(await faultsOf(dir)).to.deep.equal([]);
  });

  it("has as many fields as a mapping needs, also where the schema names none of them", async () => {
    const labels = { type: "object", minProperties: 1, additionalProperties: text };
    const json = (schema: object) => ({ required: true, content: { "application/json": { schema } } });
    const { dir, report } = await importDocument({
      tag: { method: "post", requestBody: json({ type: "object", required: ["labels"], properties: { labels } }) },
      free: { method: "post", requestBody: json({ type: "object", minProperties: 2 }) },
      sized: {
        method: "post",
        requestBody: json({ ...labels, additionalProperties: { type: "integer", minimum: 5 } }),
      },
    });
    expect(report).to.include("3 services").and.not.to.include("left out");
    expect(await faultsOf(dir)).to.deep.equal([]);
    const [{ input }] = (await manifestOf(dir, "shelf_tag")).examples as [{ input: object }];
    expect(input).to.deep.equal({ body: { labels: { name_1: "example" } } });
  });

  it("names the type of a file where the document takes several, and is sent so", async () => {
    const file = { required: true, content: { "image/*": { schema: { type: "string", format: "binary" } } } };
    const any = { required: true, content: { "*/*": { schema: { type: "string", format: "binary" } } } };
    const { dir } = await importDocument({
      picture: { method: "post", requestBody: file },
      any: { method: "post", requestBody: any },
    });
    expect(await faultsOf(dir)).to.deep.equal([]);
    const shop = await openProxyShop({ files: dir, env: (url) => ({ SHELF_URL: url }) });
    try {
      for (const [id, type] of [
        ["picture", "image/png"],
        ["any", "application/octet-stream"],
      ] as const) {
        shop.source.script({ body: "{}", headers: { "content-type": "application/json" } });
        const [{ input }] = (await manifestOf(dir, `shelf_${id}`)).examples as [{ input: object }];
        expect((await shop.buy(`/v1/shelf/${id}`, input)).status).to.equal(200);
        const { body, headers } = shop.source.asked.at(-1) ?? {};
        expect([body, headers?.["content-type"]], id).to.deep.equal(["Hello", type]);
      }
      const refused = await shop.buy("/v1/shelf/picture", { body: "SGVsbG8=", content_type: "text/html" });
      expect(refused.status).to.equal(422);
    } finally {
      await shop.close();
    }
  });

  it("has a file in base64, which is sent so once the manifest says what the import has told of it", async () => {
    const requestBody = { required: true, content: { "image/jpeg": { schema: { type: "string", format: "byte" } } } };
    const { dir, report } = await importDocument({ cover: { method: "post", requestBody } });
    expect(report).to.match(/^note: the bytes of a file are sent: shelf_cover; .*say "encoding: text"$/m);
    const file = join(dir, "manifests/shelf_cover.yaml");
    await writeFile(file, (await readFile(file, "utf8")).replace("encoding: bytes", "encoding: text"));
    const shop = await openProxyShop({ files: dir, env: (url) => ({ SHELF_URL: url }) });
    try {
      shop.source.script({ body: "{}", headers: { "content-type": "application/json" } });
      expect((await shop.buy("/v1/shelf/cover", { body: "SGVsbG8=" })).status).to.equal(200);
      const { body, headers } = shop.source.asked.at(-1) ?? {};
      expect([body, headers?.["content-type"]]).to.deep.equal(["SGVsbG8=", "image/jpeg"]);
    } finally {
      await shop.close();
    }
  });

  it("keeps what the document says of the body where it says nothing of a parameter beside it", async () => {
    const schema = { type: "object", required: ["title"], properties: { title: text, labels: { type: "array" } } };
    const issue = { title: "Found a bug", labels: ["bug"] };
    const requestBody = {
      content: { "application/json": { schema, examples: { misfit: { value: {} }, fit: { value: issue } } } },
    };
    const { dir, report } = await importDocument({ report: { ...asked(text), method: "post", requestBody } });
    expect(report).to.include("made from the schema");
    expect((await manifestOf(dir, "shelf_report")).examples).to.deep.equal([{ input: { x: "example", body: issue } }]);
  });

  it("has no null in its path, which must not be empty, also where the schema allows one", async () => {
    const parts = ["from", "to", "step", "unit"].map((name) => ({
      name,
      in: "path",
      required: true,
      schema: { ...text, nullable: true },
    }));
    const get = {
      operationId: "range",
      parameters: parts,
      responses: { 200: { content: { "application/json": {} } } },
    };
    const paths = { "/range(from={from},to={to},step={step},unit={unit})": { get } };
    const { report } = await importDocument({}, { paths });
    expect(report).to.include("1 service").and.not.to.include("left out");
  });

  it("says what is wrong with the document's own where the schema has none that could be sent either", async () => {
    const schema = { ...text, format: "uri", enum: ["http://localhost/", "http://10.0.0.1/"] };
    const { report } = await importDocument({ inside: { ...asked(schema), method: "post" } });
    expect(report).to.include('inside: it would not pass the check: examples[0].input.x "http://');
    expect(report, "notes on what was left out").to.not.include("shelf_inside");
  });

  it("is made of a format, however long the schema allows it to be", async () => {
    const formats = ["date-time", "uuid", "email", "uri", "hostname"];
    const operations = formats.map((format) => [format, asked({ ...text, format, maxLength: 255 })] as const);
    const { dir, report } = await importDocument(Object.fromEntries(operations));
    expect(report).to.include("5 services").and.not.to.include("left out");
    const { examples } = await manifestOf(dir, "shelf_date_time");
    expect(JSON.stringify(examples)).to.match(/"x":"\d{4}-\d\d-\d\dT[^"]+Z"/);
  });

  it("has values as people write them, also where only a pattern says their form", async () => {
    const values = {
      id: text,
      currency: { ...text, minLength: 3, maxLength: 3 },
      country: { ...text, pattern: "^[A-Z]{2}$" },
      value: { ...text, pattern: "^[0-9]{1,9}[.][0-9]{2}$" },
      since: { ...text, pattern: "^[0-9]{4}-[01][0-9]-[0-3][0-9][Tt][0-9:.]{8,20}(Z|[+-][0-9]{2}:[0-9]{2})$" },
      days: { type: "integer", format: "int32" },
      share: { type: "number", exclusiveMinimum: 1 },
      odd: { ...text, pattern: "^[a-f]{4}-[0-9]{4}$" },
    };
    const parameters = Object.entries(values).map(([name, schema]) => ({ name, in: "query", required: true, schema }));
    const { dir } = await importDocument({ pay: { parameters } });
    const { examples } = await manifestOf(dir, "shelf_pay");
    const { odd, ...usual } = (examples as { input: Record<string, unknown> }[])[0]!.input;
    expect(usual).to.deep.equal({
      id: "example",
      currency: "USD",
      country: "US",
      value: "10.00",
      since: "2026-01-31T12:00:00Z",
      days: 1,
      share: 10,
    });
    expect(odd).to.match(/^[a-f]{4}-[0-9]{4}$/);
  });

  it("is looked for within bounds where a schema needs itself, and is the branch that ends", async () => {
    const names = ["a", "b", "c", "d"];
    const needing = (schema: object): object => {
      return { type: "object", required: names, properties: Object.fromEntries(names.map((name) => [name, schema])) };
    };
    const whole = { $ref: "#/components/schemas/Whole" };
    const Whole = needing({ $ref: "#/components/schemas/Endless" });
    const Endless = needing({ $ref: "#/components/schemas/Endless" });
    const Tree = needing({ oneOf: [{ $ref: "#/components/schemas/Tree" }, { type: "integer", enum: [7] }] });
    const body = (schema: object) => ({ method: "post", requestBody: { required: true, ...json(schema) } });
    const { dir, report } = await importDocument(
      { whole: body(whole), tree: body({ $ref: "#/components/schemas/Tree" }) },
      { components: { schemas: { Whole, Endless, Tree } } },
    );
    expect(report).to.include("whole: no example of its input could be made").and.include("1 service");
    const [{ input }] = (await manifestOf(dir, "shelf_tree")).examples as [{ input: object }];
    expect(input).to.deep.equal({ a: 7, b: 7, c: 7, d: 7 });
  });

  it("has different texts where a list may not have the same one twice", async () => {
    const names = { type: "array", items: text, minItems: 2, uniqueItems: true };
    const { report } = await importDocument({ look: asked(names) });
    expect(report).to.include("1 service").and.not.to.include("left out");
  });

  it("has an item in each required list: of an empty one nothing would be sent", async () => {
    const ask = (name: string, place: string, more: object = {}) => {
      return { name, in: place, required: true, schema: { type: "array", items: { type: "string" }, ...more } };
    };
    const parameters = [
      ask("ids", "query"),
      { ...ask("csv", "query", { minItems: 2 }), explode: false },
      ask("x-of", "header"),
      { ...ask("tags", "query"), required: false },
      ask("any", "query", { items: undefined }),
    ];
    const { dir } = await importDocument({ find: { operationId: "find", parameters } });
    const { input, examples } = await manifestOf(dir, "shelf_find");
    const { properties } = input as { properties: Record<string, { minItems?: number }> };
    expect(Object.values(properties).map(({ minItems }) => minItems)).to.deep.equal([1, 2, 1, undefined, 1]);
    const [{ input: made }] = examples as [{ input: object }];
    expect(made).to.deep.equal({ ids: ["example"], csv: ["example", "example"], x_of: ["example"], any: ["example"] });
    expect(await faultsOf(dir)).to.deep.equal([]);
  });

  it("has an item in each required list of a form, too, whose input keeps its shape", async () => {
    const list = (more: object = {}): object => ({ type: "array", items: { type: "string" }, ...more });
    const plain = { to: list(), cc: list(), ids: list({ minItems: 2 }), tags: { anyOf: [list(), { type: "null" }] } };
    const files = list({ items: { type: "string", format: "binary" } });
    const required = ["to", "ids", "tags"];
    const form = { type: "object", properties: plain, required };
    const upload = { ...form, properties: { ...plain, files }, required: [...required, "files"] };
    const open = { ...form, additionalProperties: { type: "string" } };
    const post = (schema: object, type = "application/x-www-form-urlencoded", parameters: object[] = []) => {
      return { method: "post", parameters, requestBody: { required: true, content: { [type]: { schema } } } };
    };
    const query = { in: "query", name: "page", schema: { type: "integer" } };
    const named = { $ref: "#/components/schemas/Form" };
    const { dir } = await importDocument(
      {
        upload: post(upload, "multipart/form-data"),
        inline: post(open),
        whole: post(named),
        part: post(named, undefined, [query]),
      },
      { components: { schemas: { Form: form } } },
    );
    type Fields = { properties: Record<string, Fields & { minItems?: number }> };
    const leastOf = async (id: string, inBody = false): Promise<unknown> => {
      const input = (await manifestOf(dir, `shelf_${id}`)).input as Fields;
      const { properties } = inBody ? (input.properties.body as Fields) : input;
      return Object.fromEntries(Object.entries(properties).map(([name, { minItems }]) => [name, minItems]));
    };
    const least = { to: 1, cc: undefined, ids: 2, tags: 1 };
    expect(await leastOf("whole")).to.deep.equal(least);
    expect(await leastOf("part", true)).to.deep.equal(least);
    expect(await leastOf("inline", true)).to.deep.equal(least);
    expect(await leastOf("upload")).to.deep.equal({ ...least, files: 1 });
    expect((await manifestOf(dir, "shelf_whole")).proxy).to.include({ body: "input", encoding: "form" });
    expect(await faultsOf(dir)).to.deep.equal([]);
  });
});
