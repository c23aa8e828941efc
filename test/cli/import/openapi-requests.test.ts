import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import {
  faultsOf,
  importAll,
  importDocument,
  importFixture,
  manifestOf,
  namesIn,
  openShop,
  writeDocument,
} from "./shop.ts";

describe("an imported operation", () => {
  it("says how callers write a list or JSON within a parameter, and has the document's examples", async () => {
    const list = {
      in: "query",
      schema: { type: "array", items: { type: "integer" } },
      example: [1, 2, 3],
      required: true,
    };
    const json = { "application/json": { schema: { type: "object" }, example: { a: 1 } } };
    const parameters = [
      { ...list, name: "pipes", style: "pipeDelimited", explode: false, description: "Some numbers." },
      { ...list, name: "spaces", style: "spaceDelimited", explode: false },
      { in: "query", name: "filter", required: true, content: json },
    ];
    const { dir } = await importDocument({ find: { parameters } });
    const { input, examples } = await manifestOf(dir, "shelf_find");
    expect(input)
      .to.have.property("properties")
      .deep.equal({
        pipes: { type: "string", description: 'Some numbers. A list, with "|" between its items.' },
        spaces: { type: "string", description: "A list, with a space between its items." },
        filter: { type: "string", description: "Written as application/json." },
      });
    expect(examples).to.deep.equal([{ input: { pipes: "1|2|3", spaces: "1 2 3", filter: '{"a":1}' } }]);
  });

  it("repeats a list, and spreads a mapping, also where it may be null, is wrapped, or is one of several", async () => {
    const list = { type: "array", items: { type: "string" } };
    const orNull = (schema: object): object => ({ anyOf: [schema, { type: "null" }] });
    const mapping = { type: "object", properties: { from: { type: "string" } } };
    const parameters = [
      { in: "query", name: "ids", schema: orNull(list) },
      { in: "query", name: "tags", schema: { allOf: [list] } },
      { in: "query", name: "words", schema: { oneOf: [{ type: "string" }, list] } },
      { in: "query", name: "joined", explode: false, schema: orNull(list) },
      { in: "query", name: "piped", style: "pipeDelimited", explode: false, schema: orNull(list) },
      { in: "query", name: "when", style: "deepObject", explode: true, schema: orNull(mapping) },
      { in: "query", name: "page", schema: orNull({ type: "integer" }) },
      { in: "path", name: "keys", required: true, schema: { allOf: [list] } },
    ];
    const { dir } = await importDocument({ "find/{keys}": { operationId: "find", parameters } });
    const { proxy, input } = await manifestOf(dir, "shelf_find");
    expect(proxy).to.deep.include({
      request: "GET /find/{keys}",
      query: {
        ids: "{ids*}",
        tags: "{tags*}",
        words: "{words*}",
        joined: "{joined}",
        piped: "{piped}",
        "when[from]": "{when.from}",
        page: "{page}",
      },
    });
    expect(input).to.have.nested.property("properties.piped.type", "string");
    expect(input).to.have.nested.property("properties.keys.minItems", 1);
    expect(await faultsOf(dir)).to.deep.equal([]);
  });

  it("sends mappings and lists field by field where the document says deepObject, in the query and in forms", async () => {
    const range = { anyOf: [{ type: "object", properties: { gte: { type: "integer" } } }, { type: "integer" }] };
    const items = { type: "object", required: ["price"], properties: { price: { type: "string" } } };
    const deep = { style: "deepObject", explode: true };
    const parameters = [
      { in: "query", name: "created", ...deep, schema: range },
      { in: "query", name: "moved", ...deep, schema: { type: "object", properties: { by: {}, at: range } } },
      { in: "query", name: "expand", ...deep, schema: { type: "array", items: { type: "string" } } },
    ];
    const properties = {
      customer: { type: "string" },
      items: { type: "array", items },
      "meta-data": { anyOf: [{ type: "object", additionalProperties: { type: "string" } }, { enum: [""] }] },
      tags: { type: "array", items: { type: "string" } },
      constructor: { type: "string" },
    };
    const media = {
      schema: { type: "object", required: ["items"], properties },
      encoding: { items: deep, "meta-data": deep, customer: deep },
      example: { customer: "c_1", items: [{ price: "p_1" }], tags: ["a"] },
    };
    const form = { required: true, content: { "application/x-www-form-urlencoded": media } };
    const whole = { ...media, schema: { properties: { file: { type: "string", format: "binary" }, ...properties } } };
    const upload = { method: "post", requestBody: { content: { "multipart/form-data": whole } } };
    const { dir } = await importDocument({
      find: { parameters },
      order: { method: "post", requestBody: form },
      upload,
    });
    const uploaded = (await manifestOf(dir, "shelf_upload")).proxy;
    expect(uploaded).to.have.property("body").deep.include({ file: "{file}", "items[*]": "{items}", tags: "{tags}" });
    expect((await manifestOf(dir, "shelf_find")).proxy).to.deep.include({
      query: { "created[*]": "{created}", "moved[*]": "{moved}", "expand[*]": "{expand}" },
    });
    const { proxy, examples, input } = await manifestOf(dir, "shelf_order");
    const spread = { "items[*]": "{items}", "meta-data[*]": "{meta_data}" };
    const body = { customer: "{customer}", ...spread, tags: "{tags}", constructor: "{constructor}" };
    expect(proxy).to.deep.include({ body, encoding: "form" });
    expect(input).to.have.property("required").deep.equal(["items"]);
    expect(examples).to.deep.equal([{ input: { customer: "c_1", items: [{ price: "p_1" }], tags: ["a"] } }]);
    expect(await faultsOf(dir)).to.deep.equal([]);
  });

  it("goes to a path that the document writes with characters that no URL has", async () => {
    const { dir, report } = await importDocument({ "größe von/{größe}": { operationId: "size", parameters: [] } });
    expect(report).not.to.include("left out");
    const { proxy } = await manifestOf(dir, "shelf_size");
    expect(proxy).to.deep.include({ request: "GET /gr%C3%B6%C3%9Fe%20von/{grosse}" });
  });

  it("is left out where it is a GET that needs a body", async () => {
    const requestBody = { required: true, content: { "application/json": { schema: { type: "object" } } } };
    const { dir, report } = await importDocument({ search: { requestBody }, list: {} });
    expect(report).to.include("search: it is a GET that needs a body");
    expect(await namesIn(dir)).to.deep.equal(["shelf_list"]);
  });

  it("has an example for a list in a path, which must not be empty", async () => {
    const schema = { type: "array", items: { type: "string" } };
    const parameters = [{ in: "path", name: "ids", required: true, schema }];
    const { dir, report } = await importDocument({ "books/{ids}": { operationId: "books", parameters } });
    expect(report).to.include("1 service");
    const { input } = await manifestOf(dir, "shelf_books");
    expect(input).to.have.nested.property("properties.ids.items").deep.equal({ type: "string", minLength: 1 });
  });

  it("sends the credentials of the chosen operations where the document asks for none itself", async () => {
    const dir = await openShop();
    const document = await writeDocument(dir, {
      mine: { security: [{ login: [] }] },
      ours: { security: [{ app: [] }] },
    });
    const selection = { names: ["ours"], tags: [], all: false };
    expect((await importAll(dir, document, { selection })).report).to.include("sent in the header x-app");
    expect((await importAll(await openShop(), document)).report).to.include("a bearer token");
  });

  it("says which operations ask for other credentials, and sends those of one that is imported alone", async () => {
    const dir = await openShop();
    const [login, app] = [{ login: [] }, { app: [] }];
    const operations = { mine: {}, ours: { security: [app] }, all: { security: [] }, any: { security: [app, login] } };
    const document = await writeDocument(dir, operations, { security: [login] });
    const note = "other credentials than those that are sent: shelf_ours; where these can be sent";
    expect((await importAll(dir, document)).report)
      .to.include("a bearer token")
      .and.include(note);
    const alone = { upstream: "apps", selection: { names: ["ours"], tags: [], all: false } };
    const { report } = await importAll(dir, document, alone);
    expect(report)
      .to.include("set APPS_KEY")
      .and.include("sent in the header x-app")
      .and.not.include("other credentials");
  });

  it("says of a credential that is made anew for each request that it cannot be sent", async () => {
    const { dir, report } = await importDocument({ mine: { security: [{ proven: [] }] } });
    expect(report).to.include("the API asks for credentials that cannot be sent: proven");
    const asked = await writeDocument(
      dir,
      { mine: {}, ours: { security: [{ login: [] }] } },
      { security: [{ proven: [] }] },
    );
    expect((await importAll(await openShop(), asked)).report).to.include("than those that are sent: shelf_mine; where");
  });

  it("sends files, bytes, texts and other JSON as the document says", async () => {
    const { dir } = await importFixture("files.yaml");
    const { proxy, input, examples, body_bytes } = await manifestOf(dir, "files_send_file");
    expect(proxy).to.deep.equal({
      upstream: "files",
      request: "POST /shelves/{shelf}/files/{+path}",
      body: { file: "{file}", shelf: "{shelf_2}", pages: "{pages}" },
      encoding: "multipart",
      files: ["file", "pages"],
      answer: { wrap: "answer" },
    });
    expect((input as { required: string[] }).required).to.deep.equal(["shelf", "path", "file"]);
    expect(JSON.stringify(input)).to.include('"maxLength":500000').and.include('"contentEncoding":"base64"');
    const file = { data: "SGVsbG8=", name: "hello.txt", media: "text/plain" };
    expect(examples).to.deep.equal([
      { input: { shelf: "top", path: "a/b.txt", file, shelf_2: "left", pages: [file] } },
    ]);
    expect(body_bytes).to.equal(1_048_576);
    const bodies = await Promise.all(
      ["send_picture", "send_page", "mend_page"].map(async (id) => (await manifestOf(dir, `files_${id}`)).proxy),
    );
    const sent = (bodies as { encoding?: string; headers: object }[]).map(({ encoding, headers }) => [
      encoding,
      headers,
    ]);
    expect(sent).to.deep.equal([
      ["bytes", { "content-type": "image/png" }],
      ["text", { "content-type": "application/xml" }],
      [undefined, { "content-type": "application/merge-patch+json" }],
    ]);
    expect((await manifestOf(dir, "files_find")).proxy).to.deep.include({
      request: "GET /found/{colour*}",
      query: { "filter[*]": "{filter}", "*": "{rest}" },
    });
  });

  it("sends every credential that the document asks for at once, and says what to set", async () => {
    const { dir, report } = await importFixture("secured.yaml");
    const said = "the credential for Secured: ";
    expect(report).to.include(`set SECURED_APP_KEY, ${said}sent in the header x-app-key`);
    expect(report).to.include(`set SECURED_USER_KEY, ${said}a bearer token`).and.not.include("cannot be sent");
    const site = await readFile(join(dir, "manifests/_site.yaml"), "utf8");
    expect(site).to.include("key: { variable: SECURED_APP_KEY, header: x-app-key }");
    expect(site).to.include("- { variable: SECURED_USER_KEY, header: authorization, scheme: Bearer }");
    const text = await readFile(join(dir, "manifests/secured_me.yaml"), "utf8");
    expect(text).to.match(
      /^# Needs SECURED_APP_KEY in the environment: the credential for Secured: sent in the header/,
    );
    expect(text).to.include(`\n# Needs SECURED_USER_KEY in the environment: ${said}a bearer token.\nid: secured_me\n`);
  });

  it("gives names that templates cannot hold others, and keeps those that differ apart", async () => {
    const { dir } = await importFixture("odd-names.yaml");
    const { proxy, title } = await manifestOf(dir, "odd_names_items_get");
    expect(proxy).to.deep.include({
      request: "GET /items('{item_id}')",
      query: {
        "item-id": "{item_id_2}",
        $top: "{top}",
        "2d": "{f_2d}",
        "filter[color]": "{filter.color}",
        "filter[size]": "{filter.size}",
        "*": "{anything}",
      },
    });
    expect(title).to.equal('An item "quoted" ...');
    expect((await manifestOf(dir, "odd_names_get_search_kind_all")).proxy).to.deep.include({
      request: "GET /search",
      query: { kind: "all" },
    });
  });
});
