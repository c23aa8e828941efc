import { expect } from "chai";
import { faultsOf, importDocument, manifestOf, namesIn } from "./shop.ts";

describe("a parameter of an imported operation", () => {
  it("takes a part of a form as a file whose encoding is binary", async () => {
    const schema = { type: "object", properties: { file: { type: "string", contentEncoding: "binary" } } };
    const requestBody = { content: { "multipart/form-data": { schema } } };
    const { dir } = await importDocument({ send: { method: "post", requestBody } });
    expect((await manifestOf(dir, "shelf_send")).proxy).to.deep.include({ files: ["file"] });
  });

  it("leaves out an operation whose form has no fields, as that of one file: an empty form would be sent", async () => {
    const post = (type: string, schema: object) => ({
      method: "post",
      requestBody: { content: { [type]: { schema } } },
    });
    const { dir, report } = await importDocument({
      attach: post("multipart/form-data", { type: "string", format: "binary" }),
      tell: post("application/x-www-form-urlencoded", { type: "string" }),
      look: {
        method: "post",
        requestBody: { content: { "multipart/form-data": {}, "application/octet-stream": {} } },
      },
      ask: post("application/x-www-form-urlencoded", { type: "object", properties: { q: { type: "string" } } }),
    });
    expect(report).to.include("attach: its form names no fields").and.include("tell: its form has no fields");
    expect(await namesIn(dir)).to.have.members(["shelf_ask", "shelf_look"]);
    expect((await manifestOf(dir, "shelf_look")).proxy).to.deep.include({ body: "{body}", encoding: "bytes" });
  });

  it("is sent in a header of any name, and asked of no buyer where it is a provider's credential", async () => {
    const inHeader = (name: string) => ({ name, in: "header", schema: { type: "string" } });
    const parameters = ["X_Trace_Id", "xi-api-key", "X-CMC_PRO_API_KEY", "X-RapidAPI-Key"].map(inHeader);
    const { dir, report } = await importDocument({ find: { method: "get", operationId: "find", parameters } });
    const { proxy, input } = await manifestOf(dir, "shelf_find");
    expect(proxy).to.have.property("headers").deep.equal({ x_trace_id: "{X_Trace_Id}" });
    expect(Object.keys((input as { properties: object }).properties)).to.deep.equal(["X_Trace_Id"]);
    expect(report).to.include("find: X-CMC_PRO_API_KEY is a credential: name it under the upstream's key");
    expect(await faultsOf(dir)).to.deep.equal([]);
  });

  it("says how it is sent where another one has its name, as for Twilio's StartTime and StartTime<", async () => {
    const ask = (name: string, place: string) => ({ name, in: place, required: true, schema: { type: "string" } });
    const parameters = [ask("day", "path"), ask("day<", "query"), ask("day", "header")];
    const { dir } = await importDocument({ "calls/{day}": { operationId: "calls", parameters } });
    const { input, proxy } = await manifestOf(dir, "shelf_calls");
    const properties = (input as { properties: Record<string, { description?: string }> }).properties;
    expect(Object.entries(properties).map(([name, { description }]) => [name, description])).to.deep.equal([
      ["day", undefined],
      ["day_2", "Sent as day< in the query."],
      ["day_3", "Sent as day in the header."],
    ]);
    expect(proxy).to.deep.include({ query: { "day<": "{day_2}" }, headers: { day: "{day_3}" } });
  });

  it("is named where it is a reference that leads nowhere, or has no name", async () => {
    const operations = {
      list: { parameters: [{ $ref: "parameters/page.yml" }] },
      look: { parameters: [{ in: "query", schema: { type: "string" } }] },
    };
    const { report } = await importDocument(operations);
    expect(report).to.include("  - list: its reference parameters/page.yml leads nowhere");
    expect(report).to.include("  - look: one of its parameters has no name or no place");
  });

  it("is named where it is the whole query, as OpenAPI 3.2 has it, or in no place that there is", async () => {
    const schema = { type: "object", properties: { q: { type: "string" } } };
    const whole = { in: "querystring", name: "query", content: { "application/x-www-form-urlencoded": { schema } } };
    const { report, dir } = await importDocument({
      list: { parameters: [whole] },
      look: { parameters: [{ ...whole, required: true }] },
      see: { parameters: [{ in: "body", name: "pet", schema }] },
    });
    const why = "the whole query (in: querystring)";
    expect(report).to.include(`note: list: the optional parameter query is left out: it is ${why}`);
    expect(report).to.include(`  - look: its parameter query is ${why}, which templates cannot write`);
    expect(report).to.include(
      '  - see: its parameter pet is in "body", and not in path or query or querystring or header or cookie',
    );
    expect((await manifestOf(dir, "shelf_list")).proxy).to.not.have.property("query");
  });

  it("is no empty text in a required header, also in the example that is made of it", async () => {
    const parameters = [
      { name: "petId", in: "query", required: true, schema: { type: "integer" } },
      { name: "Request-Id", in: "header", required: true, schema: { type: "string" } },
      { name: "Tenant", in: "header", schema: { type: "string" } },
    ];
    const { dir, report } = await importDocument({ find: { operationId: "find", parameters } });
    expect(report).not.to.include("left out");
    const { input } = await manifestOf(dir, "shelf_find");
    expect(input).to.have.nested.property("properties.Request_Id").deep.equal({ type: "string", minLength: 1 });
    expect(input).to.have.nested.property("properties.Tenant").deep.equal({ type: "string" });
  });

  it("keeps its name beside a body, which takes another one then", async () => {
    const requestBody = { required: true, content: { "application/json": { schema: { type: "array", items: {} } } } };
    const post = (...names: string[]) => ({
      ...{ method: "post", requestBody },
      parameters: names.map((name) => ({ name, in: "query", schema: { type: "integer" } })),
    });
    const { dir } = await importDocument({ one: post("q"), two: post("body", "content") });
    expect((await manifestOf(dir, "shelf_one")).proxy).to.deep.include({ query: { q: "{q}" }, body: "{body}" });
    const query = { body: "{body}", content: "{content}" };
    expect((await manifestOf(dir, "shelf_two")).proxy).to.deep.include({ query, body: "{payload}" });
  });

  it("sends no mapping as a JSON Patch, which is a list, where another type is taken, too", async () => {
    const patch = (schema: object, ...types: string[]) => ({
      method: "patch",
      requestBody: { content: Object.fromEntries(types.map((type) => [type, { schema }])) },
    });
    const types = ["application/json-patch+json", "application/merge-patch+json"];
    const { dir } = await importDocument({
      mapping: patch({ type: "object" }, ...types),
      list: patch({ type: "array", items: {} }, ...types),
      alone: patch({ type: "object" }, "application/json-patch+json"),
    });
    const typeOf = async (id: string) =>
      ((await manifestOf(dir, id)).proxy as { headers: Record<string, string> }).headers["content-type"];
    expect(await typeOf("shelf_mapping")).to.equal("application/merge-patch+json");
    expect(await typeOf("shelf_list")).to.equal("application/json-patch+json");
    expect(await typeOf("shelf_alone")).to.equal("application/json-patch+json");
  });

  it("sends a parameter of the path in the query where the document writes it there", async () => {
    const parameters = ["id", "term"].map((name) => ({ name, in: "path", required: true, schema: { type: "string" } }));
    const { dir, report } = await importDocument({ "shelves/{id}?q={term}&v=2": { operationId: "find", parameters } });
    expect(report).not.to.include("left out");
    const { proxy, input } = await manifestOf(dir, "shelf_find");
    expect(proxy).to.deep.include({ request: "GET /shelves/{id}", query: { q: "{q}", v: "2" } });
    expect(input).to.have.property("required").deep.equal(["id", "q"]);
  });

  it("is a text that is not empty in a path, also where nothing is said of it, or where it may be empty", async () => {
    const inPath = (name: string, schema: object) => ({ name, in: "path", required: true, schema });
    const parameters = [inPath("id", { description: "Any." }), inPath("row", { type: "string", minLength: 0 })];
    const { dir } = await importDocument({ "shelves/{id}/{row}": { operationId: "one", parameters } });
    const row = { type: "string", minLength: 1 };
    expect(await manifestOf(dir, "shelf_one"))
      .to.have.nested.property("input.properties")
      .deep.equal({ id: { ...row, description: "Any." }, row });
  });

  it("leaves out an operation with a list in a path of a style that templates cannot write", async () => {
    const schema = { type: "array", items: { type: "string" } };
    const ids = { name: "ids", in: "path", required: true, explode: true, style: "label", schema };
    const { report } = await importDocument({ "labels/{ids}": { operationId: "label", parameters: [ids] }, list: {} });
    expect(report).to.include('label: its parameter ids is a list or an object of the style "label", which templates');
  });

  it("sends every field of an object in the query that may have more than those it names", async () => {
    const named = { type: "object", properties: { name: { type: "string" } } };
    const open = { ...named, additionalProperties: true };
    const joined = { ...named, allOf: [{ type: "object", properties: { age: { type: "integer" } } }] };
    const parameters = [
      { name: "pass", in: "query", style: "deepObject", schema: open },
      { name: "filter", in: "query", style: "deepObject", schema: joined },
      { name: "only", in: "query", style: "deepObject", schema: named },
      { name: "more", in: "query", schema: open },
    ];
    const { dir } = await importDocument({ find: { parameters } });
    expect((await manifestOf(dir, "shelf_find")).proxy).to.deep.include({
      query: { "pass[*]": "{pass}", "filter[*]": "{filter}", "only[name]": "{only.name}", "*": "{more}" },
    });
    expect(await faultsOf(dir)).to.deep.equal([]);
  });

  it("leaves out an object in the query whose fields are parameters, too, and says so", async () => {
    const page = { name: "page", in: "query", schema: { type: "integer" } };
    const paging = { name: "paging", in: "query", schema: { type: "object", properties: { page: {}, size: {} } } };
    const { dir, report } = await importDocument({ list: { parameters: [paging, page] } });
    expect(report).to.include("paging is left out: it is an object whose fields are parameters of their own");
    expect((await manifestOf(dir, "shelf_list")).proxy).to.deep.include({ query: { page: "{page}" } });
  });

  it("is a text with tabs, or with other marks in a header, where version 2.0 writes a list so", async () => {
    const list = { name: "tags", in: "query", type: "array", items: { type: "string" }, collectionFormat: "tsv" };
    const parameters = [list, { ...list, name: "x-ids", in: "header", collectionFormat: "pipes" }];
    const { dir } = await importDocument({ find: { parameters } }, { openapi: undefined, swagger: "2.0" });
    const { proxy, input } = await manifestOf(dir, "shelf_find");
    const parts = { query: { tags: "{tags}" }, headers: { "x-ids": "{x_ids}" } };
    expect([proxy, input]).to.deep.equal([
      { upstream: "shelf", request: "GET /find", ...parts, answer: { wrap: "result" } },
      {
        type: "object",
        properties: {
          tags: { type: "string", description: "A list, with a tab between its items." },
          x_ids: { type: "string", description: 'A list, with "|" between its items.' },
        },
      },
    ]);
  });

  describe("in a form", () => {
    const list = { type: "array", items: { type: "string" } };
    const fields = ["joined", "piped", "each", "usual"];
    const joined = (mark: string) => ({ type: "string", description: `A list, with ${mark} between its items.` });

    for (const [type, extra] of [
      ["application/x-www-form-urlencoded", { encoding: "form" }],
      ["multipart/form-data", { encoding: "multipart" }],
    ] as const)
      it(`is a text where all items of a list stand in one field: ${type}`, async () => {
        const encoding = {
          joined: { explode: false },
          piped: { style: "pipeDelimited", explode: false },
          each: { style: "form", explode: true },
        };
        const schema = { type: "object", properties: Object.fromEntries(fields.map((name) => [name, list])) };
        const example = { joined: ["a", "b"], each: ["c"] };
        const requestBody = { required: true, content: { [type]: { schema, encoding, example } } };
        const { dir } = await importDocument({ send: { method: "post", requestBody } });
        const { input, proxy, examples } = await manifestOf(dir, "shelf_send");
        expect(input)
          .to.have.property("properties")
          .deep.equal({
            joined: joined("a comma"),
            piped: joined('"|"'),
            each: list,
            usual: list,
          });
        expect(proxy).to.deep.include({ body: "input", ...extra });
        expect(examples).to.deep.equal([{ input: { joined: "a,b", each: ["c"] } }]);
        expect(await faultsOf(dir)).to.deep.equal([]);
      });

    it("is a text, too, where version 2.0 says nothing of how a list or the form itself is written", async () => {
      const formats = { joined: "csv", piped: "pipes", each: "multi", usual: undefined };
      const parameters = Object.entries(formats).map(([name, collectionFormat]) => ({
        ...list,
        in: "formData",
        name,
        collectionFormat,
      }));
      const send = { method: "post", consumes: ["application/json"], parameters };
      const { dir } = await importDocument({ send }, { openapi: undefined, swagger: "2.0" });
      const { input, proxy } = await manifestOf(dir, "shelf_send");
      expect(proxy).to.include({ encoding: "form" });
      expect(input)
        .to.have.property("properties")
        .deep.equal({
          joined: joined("a comma"),
          piped: joined('"|"'),
          each: list,
          usual: joined("a comma"),
        });
    });
  });
});
