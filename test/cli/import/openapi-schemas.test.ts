import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { openProxyShop, type ProxyShop } from "../../support/sellers/proxy-shop.ts";
import { siteOf } from "../../support/sellers/site-of.ts";
import { importAll, importDocument, manifestOf, openShop } from "./shop.ts";

const named = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const text = { type: "string" };
const PETS = {
  Pet: { type: "object", required: ["kind"], properties: { kind: text }, discriminator: { propertyName: "kind" } },
  Cat: { allOf: [named("Pet"), { type: "object", properties: { skill: text } }] },
  Dog: { allOf: [named("Pet"), { type: "object", properties: { pack: { type: "integer" } } }] },
  Any: { oneOf: [named("Cat"), named("Dog")], discriminator: { propertyName: "kind" } },
  Point: { type: "object", required: ["x"], properties: { x: { type: "integer" } } },
  Line: { type: "object", required: ["x", "end"], properties: { x: { type: "integer" }, end: { type: "integer" } } },
  Place: { oneOf: [named("Point"), named("Line")] },
  Named: { type: "object", required: ["name"], properties: { name: text } },
  Owned: {
    type: "object",
    additionalProperties: false,
    properties: { by: text, in: { $ref: "#/components/schemas/Nest" } },
  },
  Nest: { allOf: [named("Owned"), { type: "object", properties: { depth: { type: "integer" } } }] },
  Rule: { allOf: [named("Named"), { type: "object", nullable: true, description: "How it is cut." }] },
  Task: { allOf: [{ oneOf: [{ type: "null" }, named("Named")] }, { type: "object", properties: { tag: text } }] },
};
/** Of each, no value or no known one would be allowed, read by the letter: so in documents of Bungie, Adyen, YNAB and others. */
const CONTRADICTED = {
  breaker: { type: "integer", enum: ["0", "1"] },
  key: { type: "integer", enum: ["Primary"] },
  live: { type: "boolean", enum: ["true", "false"] },
  gender: { type: "string", enum: ["FEMALE"], maxLength: 1, pattern: "^.$" },
  start: { type: "string", enum: ["now"], format: "date-time" },
  device: { type: "string", example: "/dev/sda", pattern: "a-z, A-Z, 0-9, /, _, -", minLength: 20 },
  words: { type: "array", enum: ["all", "new"], items: text },
  job: { type: "string", format: "uuid", minLength: 40, maxLength: 40 },
  size: { type: "integer", minimum: 0, maximum: 2 ** 63 },
  port: { type: "string", format: "int-or-string" },
  owner: { allOf: [named("Named"), { type: "null" }] },
  flag: { type: "string", enum: ["red", null] },
  price: { type: "object", additionalProperties: false, allOf: [named("Point")] },
  entry: { allOf: [named("Owned"), { type: "object", additionalProperties: false, properties: { note: text } }] },
};
const ANY_LIST = { type: "array", items: { type: "object", description: "Of a later version." } };
const CAT = { kind: "cat", skill: "lazy" };
const TAGGED = { pet: { name: "Tom", tag: "x" } };

/** A POST that takes and answers this. */
const echo = (schema: object): object => ({
  post: {
    requestBody: { required: true, content: { "application/json": { schema } } },
    responses: { 200: { content: { "application/json": { schema } } } },
  },
});

const DOCUMENT = {
  openapi: "3.1.0",
  info: { title: "Pets", version: "1" },
  servers: [{ url: "https://pets.example.com" }],
  paths: {
    "/any": echo(named("Any")),
    "/base": echo(named("Pet")),
    "/tagged": echo({
      type: "object",
      properties: { pet: { ...named("Named"), properties: { tag: text } }, id: { ...named("Named"), readOnly: true } },
      required: ["pet", "id"],
    }),
    "/placed": echo(named("Place")),
    "/joined": echo(named("Task")),
    "/chosen": echo({
      type: "object",
      properties: { a: text, b: text },
      oneOf: [{ required: ["a"] }, { required: ["b"] }],
    }),
    "/nullable": echo({
      type: "object",
      properties: {
        owner: { type: "object", nullable: true, allOf: [named("Named")] },
        mood: { type: "string", nullable: true, oneOf: [{ type: "string", enum: ["good"] }] },
        link: { allOf: [named("Named"), { nullable: true }] },
        rule: named("Rule"),
      },
      required: ["owner", "mood", "rule"],
    }),
    "/linked": echo({ type: "object", properties: { link: { type: "string", format: "url" } } }),
    "/conditional": echo({
      type: "object",
      properties: { kind: text },
      if: { properties: { kind: { const: "dog" } } },
      else: { properties: { skill: text } },
    }),
    "/marked": echo({
      type: "object",
      properties: { "x-id": { type: "integer" } },
      patternProperties: { "^x-": { type: ["integer", "boolean"] } },
    }),
    "/mixed": echo({
      type: "object",
      properties: { payload: { anyOf: [text, { type: "object" }, { type: "array" }], additionalProperties: true } },
    }),
    "/contradicted": echo({ type: "object", properties: CONTRADICTED, required: Object.keys(CONTRADICTED) }),
    "/listed": echo({
      type: "object",
      properties: { list: { anyOf: [{ type: "array", items: named("Named") }, ANY_LIST] } },
    }),
  },
  components: { schemas: PETS },
};

describe("what an imported operation takes and answers", () => {
  let shop: ProxyShop;
  before(async () => {
    const dir = await openShop({
      "manifests/_site.yaml": siteOf("{ id: other, title: Other, url: https://o.example }"),
    });
    await writeFile(join(dir, "api.json"), JSON.stringify(DOCUMENT));
    expect((await importAll(dir, join(dir, "api.json"))).report)
      .to.include("13 services")
      .and.not.include("left out");
    shop = await openProxyShop({ files: dir, env: (url) => ({ PETS_URL: url }) });
  });
  after(() => shop?.close());

  /** @param sent what the upstream must get, and answers, unless it answers something else. */
  async function expectPassed(path: string, input: object, sent: object, answer: object = sent): Promise<void> {
    shop.source.script({ body: JSON.stringify(answer), headers: { "content-type": "application/json" } });
    const response = await shop.buy(`/v1/pets/post-${path}`, input);
    const said = await response.text();
    expect(response.status, said).to.equal(200);
    expect(JSON.parse(shop.source.asked.at(-1)?.body ?? "")).to.deep.equal(sent);
    expect(JSON.parse(said)).to.deep.equal(answer);
  }

  it("is one of the schemas that a discriminator tells apart, though it may fit others, too", () =>
    expectPassed("any", CAT, CAT));

  it("may fit several of the forms that a document lists, and has the fields of each", () =>
    expectPassed("placed", { x: 1, end: 2 }, { x: 1, end: 2 }));

  it("joins a schema with another one that may be null, as an object never is", () =>
    expectPassed("joined", { name: "Tom", tag: "x" }, { name: "Tom", tag: "x" }));

  it("may be null where a schema that says so wraps another one, or is joined with it", () => {
    const nothing = { owner: null, mood: null, link: null, rule: null };
    return expectPassed("nullable", { body: nothing }, nothing);
  });

  it("is of any type that a choice names, whatever stands beside the choice", async () => {
    for (const payload of ["1.29", [{ source: "a" }], { source: "a" }]) {
      const body = { payload };
      await expectPassed("mixed", { body }, body);
    }
  });

  it("has the values that a document means, where its words for them contradict each other", async () => {
    const words = { key: "Primary", gender: "FEMALE", start: "now", device: "/dev/sdb", job: "a".repeat(40) };
    const body = {
      ...words,
      breaker: 1,
      live: false,
      words: ["new", "all"],
      size: 4096,
      port: 8080,
      owner: { name: "Tom" },
      flag: "red",
      price: { x: 1 },
      entry: { by: "Tom", note: "x", in: { by: "Tim", depth: 1 } },
    };
    await expectPassed("contradicted", { body }, body);
    const none = { ...body, owner: null, flag: null };
    await expectPassed("contradicted", { body: none }, none);
    const large = "9223372036854775807";
    const line = JSON.stringify(body).replace("4096", large);
    shop.source.script({ body: line, headers: { "content-type": "application/json" } });
    const response = await shop.buy("/v1/pets/post-contradicted", { body });
    expect(await response.json()).to.deep.equal({ ...body, size: large });
    const refused = await shop.buy("/v1/pets/post-contradicted", { body: { ...body, breaker: 2, words: ["old"] } });
    expect(refused.status).to.equal(422);
  });

  it("has all fields of what fits the form that names none", () => {
    const body = { list: [{ name: "Tom", age: 3 }, { age: 4 }] };
    return expectPassed("listed", { body }, body);
  });

  it("is still one of the choices that exclude each other", async () => {
    const response = await shop.buy("/v1/pets/post-chosen", { body: { a: "1", b: "2" } });
    expect(await response.text()).to.include("exclude each other");
  });

  it("has the fields of a schema that extends the named one by a discriminator", () => expectPassed("base", CAT, CAT));

  it("has the fields that stand beside a reference, and what is only read is not asked for", () =>
    expectPassed("tagged", { body: TAGGED }, TAGGED, { ...TAGGED, id: { name: "1" } }));

  it("is no address on the inside, also where the document says url", async () => {
    const body = { link: "https://pages.example.com/a" };
    await expectPassed("linked", { body }, body);
    const asked = shop.source.asked.length;
    const response = await shop.buy("/v1/pets/post-linked", { body: { link: "http://169.254.169.254/latest" } });
    expect([response.status, shop.source.asked.length]).to.deep.equal([422, asked]);
  });

  it("has the fields that are named under a condition", () => expectPassed("conditional", { body: CAT }, CAT));

  it("has the fields that fit a pattern, one of which the schema may also name", async () => {
    const body = { "x-id": 1, "x-new": true };
    await expectPassed("marked", { body }, body);
  });

  it("has room for the longest texts of its body, also of one that is a named schema or stands beside parameters", async () => {
    const Page = { type: "object", properties: { text: { type: "string", maxLength: 200_000 } }, required: ["text"] };
    const toWrite = (schema: object) => ({
      method: "post",
      requestBody: { content: { "application/json": { schema } } },
    });
    const operations = {
      named: toWrite(named("Page")),
      inline: toWrite(Page),
      "shelves/{id}": { ...toWrite(named("Page")), operationId: "beside" },
    };
    const { dir, isPartial } = await importDocument(operations, { components: { schemas: { Page } } });
    expect(isPartial).to.equal(false);
    for (const id of ["named", "inline", "beside"])
      expect(await manifestOf(dir, `shelf_${id}`)).to.include({ body_bytes: 204_096 });
  });

  it("is short in a made example, however long the schema allows its texts to be", async () => {
    const code = { name: "code", in: "path", schema: { type: "string", maxLength: 152_133 } };
    const { dir } = await importDocument({ "codes/{code}": { operationId: "code", parameters: [code] } });
    expect(JSON.stringify((await manifestOf(dir, "shelf_code")).examples)).to.have.length.below(100);
  });

  it("is no body where the document does not ask for one, unless a field of it is required", async () => {
    const post = (required?: readonly string[]) => {
      const schema = { type: "object", properties: { a: { type: "integer" } }, required };
      const parameters = [{ in: "query", name: "page", schema: { type: "integer" } }];
      return { method: "post", parameters, requestBody: { content: { "application/json": { schema } } } };
    };
    const { dir } = await importDocument({ none: post(), no: post([]), one: post(["a"]) });
    const needs = async (id: string) => (await manifestOf(dir, id)).input;
    for (const id of ["shelf_none", "shelf_no"]) expect(await needs(id), id).not.to.have.property("required");
    expect(await needs("shelf_one"))
      .to.have.property("required")
      .deep.equal(["body"]);
  });
});
