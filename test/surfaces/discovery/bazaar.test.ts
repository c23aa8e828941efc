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
import { BASE_URL, FIXTURES, type Loose, ROOT, type Shown, showSet } from "../support/fixture-set.ts";

/** Base64 of what a header carries at most, where proxies take lines of 8 KB. */
const LINE_BYTES = 8192;

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
    it(`is what facilitators take, for each service at both doors, in ${dir === ROOT ? "this project" : "a fixture"}`, async () => {
      const { services, offers } = await showSet(dir);
      const paid = services.filter(({ manifest }) => manifest.price !== undefined);
      expect(paid).not.to.be.empty;
      for (const service of paid) {
        for (const resource of [BASE_URL + service.path, `${BASE_URL}/mcp`]) {
          const { bazaar } = offers.challenge(service, resource).required.extensions as Loose;
          expect(validateDiscoveryExtensionSpec(bazaar), resource).to.deep.equal({ valid: true });
          expect(validateDiscoveryExtension(bazaar), resource).to.deep.equal({ valid: true });
        }
      }
    });

    it(`leaves the challenge room in a header line, in ${dir === ROOT ? "this project" : "a fixture"}`, async () => {
      const { services, offers } = await showSet(dir);
      for (const service of services.filter(({ manifest }) => manifest.price !== undefined))
        for (const resource of [BASE_URL + service.path, `${BASE_URL}/mcp`])
          expect(offers.challenge(service, resource).header.length, resource).to.be.below(LINE_BYTES);
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

  it("leaves out the answer's schema, and then the prose, of what would not fit a header", () => {
    const words = "What this field means, at some length. ".repeat(4);
    const toSchema = (count: number): object => {
      const names = Array.from({ length: count }, (_, at) => `field${at}`);
      return { properties: Object.fromEntries(names.map((name) => [name, { type: "string", description: words }])) };
    };
    const partsOf = (input: number, output: number): [Loose, Loose] => {
      const [taken, given] = [input, output].map((count) => ({ document: toSchema(count) }));
      const service = { ...shown.service("toss"), input: taken, output: given } as never;
      const extensionsOf = createBazaar({ services: [service], schemas: new Map(), baseUrl: BASE_URL });
      const { properties } = (extensionsOf(service, `${BASE_URL}/v1/toss`) as Loose).bazaar.schema;
      return [properties.input.properties.body, properties.output.properties.example];
    };
    const [input, output] = partsOf(2, 20);
    expect(input.properties.field0.description).to.equal(words);
    expect(output.properties).to.have.property("field19").deep.equal({ type: "string" });
    expect(partsOf(2, 200)[1]).to.deep.equal({ type: "object" });
    expect(partsOf(40, 2)[0].properties.field0).to.deep.equal({ type: "string" });
  });

  it("leaves out even the answer's example, where that is what does not fit", () => {
    const toss = shown.service("toss");
    const manifest = { ...toss.manifest, examples: [{ input: {}, output: { essay: "x".repeat(5000) } }] };
    const service = { ...toss, manifest };
    const extensionsOf = createBazaar({ services: [service], schemas: shown.set.schemas, baseUrl: BASE_URL });
    const { info } = (extensionsOf(service, `${BASE_URL}/v1/toss`) as Loose).bazaar;
    expect(info.output).to.deep.equal({ type: "json" });
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
    const header = Buffer.from(JSON.stringify(forged)).toString("base64");
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
