import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { createFolder } from "../../support/folder.ts";
import { run, runRefused } from "./run.ts";
import { type Seller, startSeller, USDC_OFFER } from "./seller.ts";

describe("payphone call checks the input before it pays, and refuses", () => {
  let seller: Seller;
  beforeEach(async () => {
    seller = await startSeller();
  });
  afterEach(() => seller.stop());

  it("an input that does not fit the schema, with each fault's path, before anything is signed", async () => {
    const body = {
      type: "object",
      properties: { low: { type: "integer" }, high: { type: "integer", maximum: 9 } },
      required: ["low", "high"],
    };
    const schema = { properties: { input: { properties: { body } } } };
    seller.script.extensions = { bazaar: { info: {}, schema } };
    const input = '{"low":"1","high":60}';
    expect(await runRefused(seller, 5, { input })).to.equal(
      [
        "payphone: the input does not fit the service's schema:",
        "  body.low: Input should be a valid integer",
        "  body.high: Input should be less than or equal to 9",
        "Nothing was paid.",
      ].join("\n"),
    );
    const { code, out } = await run({ url: seller.url, input: '{"low":1}', json: true });
    expect(code).to.equal(5);
    expect((JSON.parse(out) as { error: unknown }).error).to.deep.include({
      code: "invalid-input",
      faults: [{ path: "body.high", message: "Field required" }],
    });
    expect(seller.paid()).to.deep.equal([]);
    expect((await run({ url: seller.url, input, check: false })).code).to.equal(0);
  });

  it("an input that does not fit the schema of a stock seller, who shows it in the header only", async () => {
    const body = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
    const bazaar = { info: {}, schema: { properties: { input: { properties: { body } } } } };
    const resource = { url: `${seller.url}/v1/roll` };
    const challenge = { x402Version: 2, error: "pay", resource, accepts: [USDC_OFFER], extensions: { bazaar } };
    const headers = { "payment-required": btoa(JSON.stringify(challenge)) };
    seller.script.unpaid = { status: 402, body: {}, headers };
    const said = await runRefused(seller, 5, { input: '{"citty":"Rome"}' });
    expect(said).to.match(/body\.city: Field required\n {2}body\.citty: .*"city"\?\nNothing was paid\.$/);
    expect((await run({ url: seller.url, input: '{"city":"Rome"}' })).code).to.equal(0);
  });

  it("an input that does not fit a schema with keywords and formats that are not known, or without a type", async () => {
    const city = { type: "string", example: "Rome", "x-order": 1, format: "place" };
    for (const body of [
      { type: "object", properties: { city }, required: ["city"] },
      { properties: { city: { type: "string" } }, required: ["city"] },
    ]) {
      seller.script.extensions = { bazaar: { info: {}, schema: { properties: { input: { properties: { body } } } } } };
      expect(await runRefused(seller, 5, { input: '{"citty":"Rome"}' })).to.include("body.city: Field required");
    }
    expect((await run({ url: seller.url, input: '{"city":"Rome"}' })).code).to.equal(0);
  });

  it("a field that is misspelled, which sellers would ignore", async () => {
    const body = { type: "object", properties: { text: { type: "string" }, language: { type: "string" } } };
    const extend = (more: object): void => {
      const schema = { properties: { input: { properties: { body: { ...body, ...more } } } } };
      seller.script.extensions = { bazaar: { info: {}, schema } };
    };
    extend({});
    const input = '{"text":"a","langauge":"de"}';
    expect(await runRefused(seller, 5, { input })).to.equal(
      [
        "payphone: the input does not fit the service's schema:",
        '  body.langauge: The service does not know this field; did you mean "language"?',
        "Nothing was paid.",
      ].join("\n"),
    );
    for (const other of ['{"text":"a","language":"de","langauge":"de"}', '{"text":"a","note":"b"}'])
      expect((await run({ url: seller.url, input: other })).code, other).to.equal(0);
    expect((await run({ url: seller.url, input, check: false })).code).to.equal(0);
    extend({ additionalProperties: true });
    expect((await run({ url: seller.url, input })).code).to.equal(0);
  });

  it("a field that is misspelled, where the one that was meant is required", async () => {
    const body = { type: "object", properties: { low: {}, high: {} }, required: ["low", "high"] };
    seller.script.extensions = { bazaar: { info: {}, schema: { properties: { input: { properties: { body } } } } } };
    expect(await runRefused(seller, 5, { input: '{"low":1,"hihg":6}' })).to.equal(
      [
        "payphone: the input does not fit the service's schema:",
        "  body.high: Field required",
        '  body.hihg: The service does not know this field; did you mean "high"?',
        "Nothing was paid.",
      ].join("\n"),
    );
  });

  it("a field beside those of a schema that forbids others", async () => {
    for (const properties of [{ low: { type: "integer" }, high: { type: "integer" } }, undefined]) {
      const body = { type: "object", ...(properties && { properties }), additionalProperties: false };
      seller.script.extensions = { bazaar: { info: {}, schema: { properties: { input: { properties: { body } } } } } };
      const input = '{"low":1,"high":6,"zebra":1}';
      expect(await runRefused(seller, 5, { input })).to.include(
        "\n  body.zebra: The service does not know this field\n",
      );
      expect((await run({ url: seller.url, input: properties ? '{"low":1}' : "{}" })).code).to.equal(0);
      seller.met.splice(0);
    }
  });

  it("the fields of a GET where the seller describes its POST form alone, and the other way round", async () => {
    const fields = { type: "object", properties: { low: { type: "integer" }, note: {} }, required: ["low"] };
    for (const [method, other, part] of [
      ["GET", "POST", "body"],
      ["POST", "GET", "queryParams"],
    ] as const) {
      const describeAs = (form: string): void => {
        const schema = { properties: { input: { properties: { [part]: fields } } } };
        seller.script.extensions = { bazaar: { info: { input: { method: form } }, schema } };
      };
      const input = '{"low":1,"ntoe":"a"}';
      describeAs(other);
      expect(await runRefused(seller, 5, { method, input })).to.include(
        'ntoe: The service does not know this field; did you mean "note"?\n',
      );
      expect((await run({ url: seller.url, method, input: '{"low":1,"note":"a"}' })).code).to.equal(0);
      describeAs(method); // Then it is no description of these fields.
      expect((await run({ url: seller.url, method, input })).code).to.equal(0);
      seller.met.splice(0);
    }
  });

  it("a part of the address that does not fit the schema of the path, beside the fields", async () => {
    const [body, pathParams] = ["low", "high"].map((name) => ({
      type: "object",
      properties: { [name]: { type: "integer", minimum: 1 } },
      required: [name],
    }));
    const bazaar = { info: {}, schema: { properties: { input: { properties: { body, pathParams } } } } };
    seller.script.extensions = { bazaar };
    const service = "/v1/roll?high={high}";
    expect(await runRefused(seller, 5, { service, method: "POST", input: '{"low":0,"high":"x"}' })).to.equal(
      [
        "payphone: the input does not fit the service's schema:",
        "  path.high: Input should be a valid integer, unable to parse string as an integer",
        "  body.low: Input should be greater than or equal to 1",
        "Nothing was paid.",
      ].join("\n"),
    );
    Object.assign(pathParams ?? {}, { required: ["high", "written"], additionalProperties: false });
    for (const address of [service, "/v1/roll?high=6", "/v1/roll?highest={highest}"])
      expect(
        (await run({ url: seller.url, service: address, method: "POST", input: '{"low":1,"high":6,"highest":6}' }))
          .code,
      ).to.equal(0);
  });

  it("nothing on a dry run without an input, which asks for the price alone", async () => {
    const schema = { properties: { input: { properties: { body: { type: "object", required: ["low"] } } } } };
    seller.script.extensions = { bazaar: { info: {}, schema } };
    const { code, err } = await run({ url: seller.url, input: undefined, dryRun: true });
    expect(code).to.equal(0);
    expect(err).to.include("0.001 USDC").and.include("Dry run: nothing was paid.");
    expect((await run({ url: seller.url, input: "{}", dryRun: true })).code, "an input is checked").to.equal(5);
  });

  for (const [what, body] of Object.entries({
    "cannot be compiled": { type: "nonsense" },
    "contains itself without end": { type: "object", allOf: [{ $ref: "#" }] },
    "a pattern keeps busy for ever": { type: "object", properties: { note: { type: "string", pattern: "^(a+)+$" } } },
    "is Ajv's asynchronous kind": { $async: true, type: "object", required: ["more"] },
    "has a default that does not fit it": { type: "object", properties: { more: { type: "string", default: null } } },
  }))
    it(`nothing for the sake of a schema that ${what}`, async () => {
      const schema = { properties: { input: { properties: { body } } } };
      seller.script.extensions = { bazaar: { info: {}, schema } };
      const input = JSON.stringify({ low: 1, high: 6, note: `${"a".repeat(40)}!` });
      expect((await run({ url: seller.url, input })).code).to.equal(0);
      expect(seller.paid()).to.have.length(1);
    });

  it("no field that the schema knows in one of its branches only", async () => {
    const other = { properties: { lows: { type: "array" } }, required: ["lows"] };
    const body = { type: "object", properties: { low: { type: "integer" } }, oneOf: [{ required: ["low"] }, other] };
    seller.script.extensions = { bazaar: { info: {}, schema: { properties: { input: { properties: { body } } } } } };
    expect((await run({ url: seller.url, input: '{"lows":[1]}' })).code).to.equal(0);
    expect((await run({ url: seller.url, input: '{"lwo":1,"lows":[1]}' })).code, "misspelled all the same").to.equal(5);
  });

  it("numbers that it would send, and pay for, as others", async () => {
    for (const [digits, sent] of [
      ["9007199254740993", "9007199254740992"],
      ["-12345678901234567890", "-12345678901234567000"],
      ["9".repeat(400), "Infinity"],
      ["1e400", "Infinity"],
    ])
      expect(await runRefused(seller, 2, { input: `{"low":{"id":[${digits}]}}` })).to.equal(
        `payphone: the input has ${digits}, which would be sent as ${sent}: write it as a text`,
      );
    expect((await run({ url: seller.url, input: '{"low":10000000000000000,"high":6.02e23}' })).code).to.equal(0);
  });

  it("half a character, which the address of a GET would hold as another one, and a path not at all", async () => {
    const input = '{"low":"\\ud800"}';
    const said = "payphone: low has half of a character (a lone surrogate), which no address can hold";
    for (const service of ["/v1/roll", "/v1/roll/{low}"])
      expect(await runRefused(seller, 2, { service, method: "GET", input }), service).to.equal(said);
  });

  it("a list or a mapping that an address would hold as something else, or not at all", async () => {
    const part = "{job_id} is a part of the address: it must be a text, a number or a boolean";
    const lost = "days is an empty list, or has null in it, which no query can hold";
    for (const job_id of [["7"], { id: 7 }, "7"])
      for (const days of [[], [1, null]]) {
        const input = JSON.stringify({ job_id, days });
        expect(await runRefused(seller, 2, { service: "job", input })).to.include(job_id === "7" ? lost : part);
      }
  });

  it("a query beside an input, since sellers ignore the query of a POST", async () => {
    const said = await runRefused(seller, 2, { service: "/v1/roll?low=1" });
    expect(said).to.include("is asked with POST, whose query is ignored: give all fields in the input");
  });

  it("input that is no JSON object", async () => {
    expect(await runRefused(seller, 2, { input: "{low:1}" })).to.match(
      /^payphone: the input is not JSON \(.+\); quote it for your shell, like '\{"low":1,"high":6\}'$/,
    );
    expect(await runRefused(seller, 2, { input: "[1]" })).to.equal(
      `payphone: the input must be a JSON object, like '{"low":1,"high":6}'`,
    );
    expect(await runRefused(seller, 2, { input: "@/nowhere" })).to.equal("payphone: cannot read /nowhere (ENOENT)");
    expect(seller.met).to.deep.equal([]);
  });

  it("a file that is not UTF-8, whose letters would be sent as other ones; one with a byte order mark is read", async () => {
    const file = join(createFolder(), "input.json");
    writeFileSync(file, Buffer.from('{"city":"Orl\u00e9ans"}', "latin1"));
    expect(await runRefused(seller, 2, { input: `@${file}` })).to.equal(
      "payphone: the input is not UTF-8, as JSON must be: save it as UTF-8",
    );
    writeFileSync(file, '\ufeff{"city":"Orl\u00e9ans"}');
    expect((await run({ url: seller.url, input: `@${file}` })).code).to.equal(0);
    expect(seller.paid()[0]?.body).to.deep.equal({ city: "Orl\u00e9ans" });
  });
});
