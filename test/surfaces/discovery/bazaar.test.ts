import {
  extractDiscoveryInfo,
  validateDiscoveryExtension,
  validateDiscoveryExtensionSpec,
} from "@x402/extensions/bazaar";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect } from "chai";
import type { PaymentPayload } from "../../../runtime/core/x402/x402.ts";
import { createBazaar } from "../../../runtime/surfaces/discovery/bazaar.ts";
import { openShop } from "../../support/sellers/shop.ts";
import { encode } from "../../support/sellers/signed.ts";
import { BASE_URL, FIXTURES, type Loose, ROOT, type Shown, showSet } from "../support/fixture-set.ts";

describe("the bazaar extension", () => {
  let shown: Shown;
  before(async () => {
    shown = await showSet();
  });
  const at = (id: string, resource: string): Loose => {
    const { extensions } = shown.offers.challenge(shown.service(id), resource).required as Loose;
    return extensions?.bazaar;
  };
  const http = (id: string): Loose => at(id, BASE_URL + shown.service(id).path);
  const tool = (id: string): Loose => at(id, `${BASE_URL}/mcp`);

  for (const dir of [FIXTURES, ROOT]) {
    it(`is what facilitators take, in header and body, for each service at both doors, in ${dir === ROOT ? "this project" : "a fixture"}`, async () => {
      const { services, offers } = await showSet(dir);
      const paid = services.filter(({ manifest }) => manifest.price !== undefined);
      expect(paid).not.to.be.empty;
      for (const service of paid) {
        for (const resource of [BASE_URL + service.path, `${BASE_URL}/mcp`]) {
          const { body, header } = offers.challenge(service, resource);
          const sent = [body, Buffer.from(header, "base64")].map((bytes) => JSON.parse(bytes.toString()));
          for (const { extensions } of sent) {
            expect(validateDiscoveryExtensionSpec(extensions.bazaar), resource).to.deep.equal({ valid: true });
            expect(validateDiscoveryExtension(extensions.bazaar), resource).to.deep.equal({ valid: true });
          }
        }
      }
    });
  }

  it("describes a POST by its body, with the first example", () => {
    const { info, schema } = http("toss");
    expect(info).to.deep.equal({
      input: { type: "http", method: "POST", bodyType: "json", body: { coins: 2, label: "<first & last>" } },
      output: { type: "json", example: { sides: ["heads", "tails"], table: { name: "7", seats: 2 } } },
    });
    expect(schema.$schema).to.equal("https://json-schema.org/draft/2020-12/schema");
    expect(schema.properties.input.properties.body.properties.coins).to.deep.include({ minimum: 1, maximum: 100 });
  });

  it("writes out what the answer's schema refers to, without its prose", () => {
    const { example } = http("toss").schema.properties.output.properties;
    expect(example.properties.sides).to.deep.equal({
      type: "array",
      items: { type: "string", enum: ["heads", "tails"] },
    });
    expect(JSON.stringify(example)).not.to.match(/\$ref|description/);
  });

  it("has an example of each answer, also of the one that accepts a job", async () => {
    const { services, offers } = await showSet(ROOT);
    for (const service of services.filter(({ manifest }) => manifest.price !== undefined)) {
      const { required } = offers.challenge(service, BASE_URL + service.path);
      const { info, schema } = (required as Loose).extensions.bazaar;
      expect(info.output, service.manifest.id).to.have.property("example");
      const ajv = new Ajv2020({ validateFormats: false });
      expect(ajv.validate(schema, info), service.manifest.id).to.equal(true);
    }
  });

  it("describes a GET by its query", () => {
    const [table, { services, set }] = [shown.service("table"), shown];
    const extensionsOf = createBazaar({ services, schemas: set.schemas, baseUrl: BASE_URL });
    const { bazaar } = extensionsOf(table, BASE_URL + table.path) as Loose;
    const input = { type: "http", method: "GET", queryParams: { full: true }, pathParams: { name: "7" } };
    expect(bazaar.info.input).to.deep.equal(input);
    expect(validateDiscoveryExtension(bazaar)).to.deep.equal({ valid: true });
  });

  it("says what stands in the path", () => {
    const { info, schema, routeTemplate } = http("essay");
    expect(routeTemplate).to.equal("/v1/essays/:language");
    expect(info.input).to.deep.include({ pathParams: { language: "en" }, body: { subject: "telephones" } });
    expect(schema.properties.input.properties.body.required).to.deep.equal(["subject"]);
    expect(schema.properties.input.properties.pathParams.required).to.deep.equal(["language"]);
  });

  it("does not show a schema that contains itself, and validates all the same", () => {
    const { schema, info } = http("essay");
    expect(schema.properties.output.properties.example).to.deep.equal({ type: "object" });
    expect(new Ajv2020().validate(schema, info)).to.equal(true);
  });

  it("refuses an input that the service would refuse", () => {
    const { schema, info } = http("toss");
    const broken = { ...info, input: { ...info.input, body: { coins: 0 } } };
    expect(new Ajv2020().validate(schema, broken)).to.equal(false);
  });

  it("names the tool where all services have one URL", () => {
    const { info } = tool("toss");
    expect(info.input).to.deep.include({ type: "mcp", toolName: "toss", transport: "streamable-http" });
    expect(info.input.example).to.deep.equal({ coins: 2, label: "<first & last>" });
    expect(tool("essay").info.input.toolName).to.equal("essay");
  });

  it("is not there at other doors", () => {
    expect(at("toss", `${BASE_URL}/v1/a2a`)).to.equal(undefined);
  });

  it("leaves out the answer's schema, and then the prose, of what would be too much for a facilitator", () => {
    const partsOf = (input: number, output: number): [Loose, Loose] => {
      const { properties } = (made(input, output)() as Loose).bazaar.schema;
      return [properties.input.properties.body, properties.output.properties.example];
    };
    const [input, output] = partsOf(2, 60);
    expect(input.properties.field0.description).to.equal(WORDS);
    expect(output.properties).to.have.nested.property("field59.minLength", 1);
    expect(partsOf(60, 2)[0].properties.field0).to.deep.equal({ type: "string", pattern: "^a", minLength: 1 });
    expect(partsOf(60, 2)[1]).to.deep.equal({ type: "object" });
  });

  it("shows in a header what of the input fits there: its bounds, its types, or an example", () => {
    const within = made(3, 3);
    const inputIn = (room: number): Loose => (within(room) as Loose).bazaar.schema.properties.input.properties.body;
    const sizeIn = (room: number): number => JSON.stringify(within(room)).length;
    const rich = inputIn(5000);
    expect(rich.properties.field0).to.deep.equal({ type: "string", minLength: 1 });
    expect((within(5000) as Loose).bazaar.info).not.to.have.property("output");
    const typed = inputIn(sizeIn(5000) - 1);
    expect(typed.properties.field0).to.deep.equal({ type: "string" });
    const bare = sizeIn(sizeIn(5000) - 1) - 1;
    expect(inputIn(bare)).to.deep.equal({ type: "object" });
    expect((within(bare) as Loose).bazaar.info.input.body).to.deep.equal({ coins: 2, label: "<first & last>" });
    const least = sizeIn(bare) - 1;
    expect((within(least) as Loose).bazaar.info.input.body).to.deep.equal({});
    expect(within(sizeIn(least) - 1)).to.equal(undefined);
  });

  const WORDS = "What this field means, at some length. ".repeat(4);
  function made(input: number, output: number): (room?: number) => object | undefined {
    const toSchema = (count: number): object => {
      const names = Array.from({ length: count }, (_, at) => `field${at}`);
      const field = { type: "string", description: WORDS, pattern: "^a", minLength: 1 };
      return { properties: Object.fromEntries(names.map((name) => [name, field])) };
    };
    const [taken, given] = [input, output].map((count) => ({ document: toSchema(count) }));
    const service = { ...shown.service("toss"), input: taken, output: given } as never;
    const extensionsOf = createBazaar({ services: [service], schemas: new Map(), baseUrl: BASE_URL });
    return (room) => extensionsOf(service, `${BASE_URL}/v1/toss`, room);
  }
});

describe("a challenge", () => {
  it("is the same in header and body, in all that is signed or echoed, for each service", async () => {
    const { services, offers } = await showSet(ROOT);
    for (const service of services.filter(({ manifest }) => manifest.price !== undefined)) {
      const { body, header } = offers.challenge(service, BASE_URL + service.path);
      const [full, lean] = [body, Buffer.from(header, "base64")].map((bytes) => JSON.parse(bytes.toString()));
      expect({ ...lean, extensions: undefined }).to.deep.equal({ ...full, extensions: undefined });
      const [{ bazaar: whole, ...others }, { bazaar: entry, ...echoed }] = [full.extensions, lean.extensions];
      expect(echoed).to.deep.equal(others);
      expect(entry.info.input.type).to.equal(whole.info.input.type);
    }
  });

  it("has in its header, when it refuses, no directory entry that would crowd out the reason", async () => {
    const { service, offers } = await showSet(ROOT);
    const { header } = offers.challenge(service("parse_datetime"), `${BASE_URL}/v1/parse/datetime`, {
      error: `payment_rejected: ${"x".repeat(101)}`,
    });
    expect(header.length).to.be.below(2600);
    expect(JSON.parse(Buffer.from(header, "base64").toString())).not.to.have.nested.property("extensions.bazaar");
  });
});

describe("a facilitator that keeps a directory", () => {
  it("is told of a service in the seller's words, whatever the payer echoes", async () => {
    const seen: PaymentPayload[] = [];
    const shop = await openShop({ extensionsOf: () => ({ bazaar: { info: "ours" } }) });
    const keep = shop.rail.script;
    keep.verify = (payment) => {
      seen.push(payment);
      return { isValid: true };
    };
    const payment = JSON.parse(Buffer.from(await shop.pay("/v1/roll"), "base64").toString());
    const echo = { url: "https://elsewhere.example/v1/roll", description: "Not ours", tags: ["theirs"] };
    const forged = { ...payment, resource: echo, extensions: { bazaar: { info: "theirs" } } };
    const header = encode(forged);
    const response = await shop.post("/v1/roll", { low: 1, high: 6 }, { "payment-signature": header });
    await shop.close();
    expect(response.status).to.equal(200);
    expect(seen[0]).to.deep.include({ extensions: { bazaar: { info: "ours" } } });
    expect(seen[0]?.resource).to.deep.include({ url: `${shop.url}/v1/roll`, description: "The service roll." });
  });

  it("can list what a stock payer echoes of a challenge", async () => {
    const { offers, service } = await showSet();
    const toss = service("toss");
    const { required } = offers.challenge(toss, BASE_URL + toss.path);
    const [accepted] = required.accepts;
    const payment = { ...required, accepted, payload: {} };
    const found = extractDiscoveryInfo(payment as never, accepted as never) as Loose;
    expect(found).to.deep.include({
      resourceUrl: `${BASE_URL}/v1/toss`,
      method: "POST",
      serviceName: "Corner shop",
      tags: ["random", "games"],
      iconUrl: `${BASE_URL}/icon.png`,
    });
  });
});
