import { expect } from "chai";
import { openProxyShop } from "../../support/sellers/proxy-shop.ts";
import { faultsOf, importDocument, importFixture, manifestOf } from "./shop.ts";

describe("the answer of an imported operation", () => {
  it("is a picture of any type where the document says no more", async () => {
    const responses = { 200: { content: { "image/*": {} } } };
    const { dir } = await importDocument({ picture: { responses } });
    const { output, proxy } = await manifestOf(dir, "shelf_picture");
    expect(output).to.deep.equal({ media: "image/*", max_bytes: 1_048_576 });
    expect(proxy).to.have.property("headers").deep.equal({ accept: "image/*" });
  });

  it("charges only the status whose answer is sold, where statuses answer differently", async () => {
    const { dir } = await importFixture("orders.yaml");
    expect((await manifestOf(dir, "orders_get_order")).proxy).to.deep.include({ charge_on: [200] });
    expect((await manifestOf(dir, "orders_change_order")).proxy).not.to.have.property("charge_on");
  });

  it("is charged with every status that answers alike, whatever their examples", async () => {
    const schema = { type: "object", properties: { sha: { type: "string" } } };
    const answer = (sha: string, more = {}) => ({
      description: sha,
      content: { "application/json": { schema, example: { sha } }, ...more },
    });
    const xml = { "application/xml": {} };
    const responses = { 200: answer("changed", xml), 201: answer("made"), 204: { description: "Nothing to do." } };
    const { dir, report } = await importDocument({ save: { method: "put", responses }, look: { responses } });
    expect((await manifestOf(dir, "shelf_save")).proxy).to.deep.include({ charge_on: [200, 201] });
    expect(report).to.match(/^note: good answers of another form .*: shelf_save \(204\)$/m);
  });

  it("is a text where the document says so, and costs nothing where JSON comes in its place", async () => {
    const answer = (type: string, schema: object) => ({ responses: { 200: { content: { [type]: { schema } } } } });
    const operations = {
      rows: answer("text/csv", {}),
      feed: answer("application/xml", { type: "object" }),
      word: answer("text/plain", { type: "string" }),
      either: answer("text/plain", { type: "object" }),
    };
    const { dir } = await importDocument(operations);
    const shop = await openProxyShop({ files: dir, env: (url) => ({ SHELF_URL: url }) });
    const buy = async (id: string, body: string, type: string): Promise<unknown> => {
      shop.source.script({ body, headers: { "content-type": type } });
      const response = await shop.buy(`/v1/shelf/${id}`, {});
      return response.ok ? await response.json() : [response.status, shop.rail.moved.size];
    };
    try {
      for (const id of ["rows", "feed", "word"])
        expect(await buy(id, '{"error":"over quota"}', "application/json"), id).to.deep.equal([502, 0]);
      expect(await buy("rows", "42\n", "text/csv")).to.deep.equal({ text: "42\n" });
      expect(await buy("either", '{"a":1}', "text/plain")).to.deep.equal({ text: { a: 1 } });
    } finally {
      await shop.close();
    }
  });

  it("is said to be refused where the document's own examples do not fit its schema", async () => {
    const schema = { type: "object", properties: { price: { type: "number" } } };
    const answer = (example: object) => ({
      responses: { 200: { content: { "application/json": { schema, example } } } },
    });
    const operations = { rate: answer({ price: "-0.0025" }), fee: answer({ price: 1, unit: "USD" }), tax: answer({}) };
    const { report } = await importDocument(operations);
    expect(report).to.match(
      /^note: the document's examples of answers do not fit .*: shelf_rate \(price: Input should be a valid number\)$/m,
    );
  });

  it("is compared with the document's examples also where these are texts of JSON", async () => {
    const schema = { type: "object", properties: { price: { type: "number" } } };
    const content = (example: object) => ({ "application/json": { schema, example: JSON.stringify(example) } });
    const rate = { responses: { 200: { content: content({ price: 1 }) } } };
    const save = { method: "post", requestBody: { required: true, content: content({ price: 2 }) } };
    const { dir, report } = await importDocument({ rate, save });
    expect(report).not.to.include("do not fit");
    expect((await manifestOf(dir, "shelf_rate")).examples).to.deep.equal([{ input: {}, output: { price: 1 } }]);
    expect((await manifestOf(dir, "shelf_save")).examples).to.deep.equal([{ input: { body: { price: 2 } } }]);
  });

  it("may be one of the values that a document lists as the items of what is no list", async () => {
    const bot = { items: { anyOf: [{ type: "string" }, { nullable: true }] } };
    const content = { "application/json": { schema: { type: "object", properties: { bot } }, example: { bot: "B1" } } };
    const { report } = await importDocument({ post: { responses: { 200: { content } } } });
    expect(report).not.to.include("do not fit");
  });

  it("is empty where its status allows no body, whatever the document says of one", async () => {
    const content = { "application/json": { schema: { type: "object" } } };
    const { dir } = await importDocument({ burn: { method: "delete", responses: { 204: { content } } } });
    const { proxy, output } = await manifestOf(dir, "shelf_burn");
    expect(proxy).to.deep.include({ answer: { wrap: "answer" } });
    expect(output).to.have.nested.property("properties.answer").and.not.have.property("required");
  });

  it("is none where the document calls it null, as some do where the API answers without a body", async () => {
    const responses = { 201: { content: { "application/json": { schema: { type: "null" } } } } };
    const { dir } = await importDocument({ add: { method: "post", responses } });
    const shop = await openProxyShop({ files: dir, env: (url) => ({ SHELF_URL: url }) });
    try {
      for (const body of ["", "null"]) {
        shop.source.script({ status: 201, body, headers: { "content-type": "application/json" } });
        expect((await shop.buy("/v1/shelf/add", {})).status, body).to.equal(200);
      }
    } finally {
      await shop.close();
    }
  });

  it("must be there for a GET, also where the document says nothing of it: that is told", async () => {
    const responses = { 200: { description: "Success" } };
    const json = (schema: object) => ({ responses: { 200: { content: { "application/json": { schema } } } } });
    const told = { type: "object", additionalProperties: { type: "number" } };
    const { dir, report } = await importDocument({
      read: { responses },
      save: { method: "post", responses },
      open: { method: "post", ...json({ type: "object", description: "Whatever there is." }) },
      rates: json(told),
      list: json({ type: "array" }),
    });
    const said = {
      type: "object",
      properties: { answer: { description: "What the API answers: its document does not say." } },
    };
    expect((await manifestOf(dir, "shelf_read")).output).to.deep.equal({ ...said, required: ["answer"] });
    expect((await manifestOf(dir, "shelf_save")).output).to.deep.equal(said);
    expect(report).to.match(/^note: the document does not say what these answer, .*: shelf_read, shelf_open$/m);
  });

  it("may come as a stream, which does not fit the JSON that is sold: that is said", async () => {
    const content = { "application/json": { schema: { type: "object" } }, "text/event-stream": {} };
    const schema = { type: "object", properties: { stream: { type: "boolean", enum: [false] } } };
    const post = { method: "post", requestBody: { content: { "application/json": { schema } } } };
    const { dir, report } = await importDocument({ chat: { ...post, responses: { 200: { content } } }, embed: post });
    expect(report).to.match(/note: .*"stream", allow only false \("enum: \[false\]"\): shelf_chat$/m);
    expect(await faultsOf(dir)).to.deep.equal([]);
  });

  it("may be a redirect alone, which mostly fails: that is said", async () => {
    const found = { 302: { description: "Found" }, 404: { description: "None" } };
    const operations = { zip: { responses: found }, read: { responses: { 200: {}, ...found } } };
    const { report } = await importDocument(operations);
    expect(report).to.match(/^note: the document describes no answers but redirects, .*: shelf_zip$/m);
  });

  it("may report a failure with a good status, which is charged: that is said", async () => {
    const answer = (schema: object) => ({ responses: { 200: { content: { "application/json": { schema } } } } });
    const fields = (...names: string[]) => ({
      type: "object",
      properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
    });
    const { report } = await importDocument({
      send: answer({ oneOf: [fields("id"), { allOf: [fields("error_text", "status")] }] }),
      save: answer(fields("success", "id")),
      look: answer(fields("id", "errored")),
      list: answer({ type: "object", properties: { ok: { type: "boolean", enum: [true] } } }),
    });
    expect(report).to.match(
      /^note: answers may report a failure .*: shelf_send \(error_text\), shelf_save \(success\); .*"failed: \/success == false"/m,
    );
  });

  for (const [type, field] of [
    ["text/event-stream; charset=utf-8", "events"],
    ["application/x-ndjson", "lines"],
    ["application/json-seq", "lines"],
  ] as const)
    it(`is sold as its ${field} where it is a stream, whatever is said of its bytes: ${type}`, async () => {
      const responses = { 200: { content: { [type]: { schema: { type: "string", format: "binary" } } } } };
      const { dir } = await importDocument({ news: { responses } });
      const { proxy, output } = await manifestOf(dir, "shelf_news");
      expect(proxy)
        .to.deep.include({ headers: { accept: type } })
        .and.not.have.property("answer");
      const properties = { [field]: { type: "array", items: {} } };
      expect(output).to.deep.equal({ type: "object", properties, required: [field] });
      expect(await faultsOf(dir)).to.deep.equal([]);
    });
});
