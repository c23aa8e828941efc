import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { validate } from "@readme/openapi-parser";
import { expect } from "chai";
import { toOpenApi } from "../../../runtime/surfaces/openapi/openapi.ts";
import { createFolder } from "../../support/folder.ts";
import { type Described, describeApi } from "../support/described.ts";
import { BASE_URL, FIXTURES, type Loose, ROOT, type Shown, showSet } from "../support/fixture-set.ts";

const run = promisify(execFile);
const REDOCLY = join(ROOT, "node_modules/.bin/redocly");

/** What redocly's recommended rules complain of, warnings included. */
async function lint(document: string): Promise<Loose[]> {
  const dir = createFolder();
  const file = join(dir, "openapi.json");
  writeFileSync(file, document);
  const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };
  const { stdout } = await run(REDOCLY, ["lint", file, "--extends", "recommended", "--format", "json"], { env }).catch(
    (failure) => failure as { stdout: string },
  );
  return JSON.parse(stdout).problems;
}

for (const dir of [FIXTURES, ROOT]) {
  describe(`/openapi.json of ${dir === ROOT ? "this project" : "a fixture"}`, () => {
    let shown: Shown;
    let document: Loose;
    let api: Described;
    before(async () => {
      shown = await showSet(dir);
      document = shown.json("/openapi.json");
      api = describeApi(document);
    });

    it("has nothing that redocly's recommended rules complain of", async () => {
      expect(await lint(shown.text("/openapi.json"))).to.deep.equal([]);
    });

    it("is valid OpenAPI 3.1", async () => {
      expect(await validate(structuredClone(document))).to.deep.include({ valid: true });
    });

    it("shows examples that fit their schemas", () => {
      let count = 0;
      for (const { operation } of api.operations) {
        for (const part of [operation.requestBody, ...Object.values<Loose>(operation.responses)]) {
          const content = api.resolve(part)?.content?.["application/json"];
          for (const { value } of Object.values<Loose>(content?.examples ?? {})) {
            expect(api.faultsOf(content.schema, value), operation.operationId).to.equal("");
            count += 1;
          }
        }
      }
      expect(count).to.be.above(shown.services.length);
    });

    it("shows an example of what each operation answers when all is well", () => {
      for (const { operation } of api.operations)
        expect(operation.responses["200"].content["application/json"].examples, operation.operationId).not.to.be.empty;
    });

    it("has an operation for each route, the main one by the service's id, and the price there alone", () => {
      for (const { manifest, routes } of shown.services)
        for (const [index, { method, path }] of routes.entries()) {
          const found = api.operations.filter((one) => one.method === method && one.path === path);
          const id = index === 0 ? manifest.id : `${manifest.id}_${method.toLowerCase()}`;
          expect(found.map(({ operation }) => operation.operationId)).to.deep.equal([id]);
          const info = found[0]?.operation["x-payment-info"];
          if (manifest.price === undefined || index > 0) expect(info).to.equal(undefined);
          else {
            expect(info).to.have.all.keys("price", "protocols");
            expect(Number(info.price.amount)).to.equal(Number(manifest.price));
            expect(info.price.amount).to.match(/^\d+\.\d{6}$/);
          }
        }
    });

    it("names each operation once", () => {
      const ids = api.operations.map(({ operation }) => operation.operationId);
      expect(new Set(ids).size).to.equal(ids.length);
    });

    it("asks for no credentials anywhere", () => {
      for (const { operation } of api.operations) expect(operation.security).to.deep.equal([]);
    });

    it("refers to nothing that is not there", () => {
      const refs = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref as string);
      expect(refs).not.to.be.empty;
      for (const $ref of refs) expect(api.resolve({ $ref }), $ref).to.be.an("object");
    });

    it("tells agents how to buy in at most 4000 characters", () => {
      expect(document.info["x-guidance"]).to.have.length.within(100, 4000);
      expect(document.info.contact).to.have.property("url");
    });
  });
}

describe("/openapi.json", () => {
  let shown: Shown;
  let document: Loose;
  before(async () => {
    shown = await showSet();
    document = shown.json("/openapi.json");
  });
  const operation = (path: string, method: string): Loose => document.paths[path][method];
  const schema = (name: string): Loose => document.components.schemas[name];

  it("is version 3.1.0 of OpenAPI, and the site's own version", async () => {
    expect(document.openapi).to.equal("3.1.0");
    expect(document.info.version).to.equal("1.2.3");
    expect((await showSet(ROOT)).json("/openapi.json").info.version).to.equal("0.3.0");
  });

  it("says what a call costs as directories read it", () => {
    expect(operation("/v1/toss", "post")["x-payment-info"]).to.deep.equal({
      price: { mode: "fixed", currency: "USD", amount: "0.010000" },
      protocols: [{ x402: {} }],
    });
  });

  it("has the GET form of a service beside its POST form, with the fields in the query and the same answers", () => {
    const { get, post } = document.paths["/v1/toss"];
    expect(get.operationId).to.equal("toss_get");
    expect(get.description).to.include("The GET form of `toss`");
    expect(post.description).to.include("Also answers GET: operation `toss_get`.");
    expect(get).not.to.have.property("requestBody");
    const fields = Object.keys(schema("TossRequest").properties);
    expect(get.parameters.map((one: Loose) => [one.in, one.name])).to.deep.equal(fields.map((name) => ["query", name]));
    expect(get.responses["200"]).to.deep.equal(post.responses["200"]);
    expect(get.responses).to.have.property("402");
    expect(get.responses).not.to.have.any.keys("413", "415");
  });

  it("says of no parameter that it may be null, which a query cannot say", async () => {
    const { paths } = (await showSet(ROOT)).json("/openapi.json");
    const { get } = paths["/v1/price/token"];
    const types = get.parameters.map(({ name, schema: { type, enum: values } }: Loose) => [name, type, values?.at(-1)]);
    expect(types).to.deep.equal([
      ["symbol", "string", undefined],
      ["chain", "string", "avalanche"],
      ["contract", "string", undefined],
    ]);
  });

  it("has parameters for each GET form, none where the input has no fields", () => {
    const toss = shown.service("toss");
    const input = { ...toss.input, document: { type: "object" } };
    const { site, schemas } = shown.set;
    const made: Loose = toOpenApi({ services: [{ ...toss, input }], site, baseUrl: BASE_URL, schemas });
    expect(made.paths["/v1/toss"].get.parameters).to.deep.equal([]);
    expect(made.paths["/v1/toss"].post).not.to.have.property("parameters");
  });

  it("names a GET form otherwise where a service has that name", () => {
    const toss = shown.service("toss");
    const other = { ...shown.service("essay"), manifest: { ...shown.service("essay").manifest, id: "toss_get" } };
    const { site, schemas } = shown.set;
    const made: Loose = toOpenApi({ services: [toss, other], site, baseUrl: BASE_URL, schemas });
    expect(made.paths["/v1/toss"].get.operationId).to.equal("toss_get_form");
  });

  it("keeps the names of schemas, and everything that they refer to", () => {
    expect(operation("/v1/toss", "post").requestBody.content["application/json"].schema).to.deep.equal({
      $ref: "#/components/schemas/TossRequest",
    });
    expect(schema("TossResponse").properties.sides.items).to.deep.equal({ $ref: "#/components/schemas/Side" });
    expect(schema("Side").enum).to.deep.equal(["heads", "tails"]);
    expect(schema("TossRequest")).not.to.have.property("$schema");
  });

  it("calls a schema that stands in its manifest after the service, and its parts after it", () => {
    const part = { $ref: "#/components/schemas/EssayResponseSource" };
    expect(schema("EssayResponse").properties.sources.items).to.deep.equal(part);
    expect(schema("EssayResponse"), "generators do not follow pointers into components").not.to.have.property("$defs");
    expect(schema("EssayResponseSource").properties.cites.items).to.deep.equal(part);
  });

  it("gives no two schemas one name", () => {
    const service = shown.service("essay");
    const twin = { ...service, manifest: { ...service.manifest, id: "essay-2", route: "POST /v1/other" } };
    const taken = new Map([...shown.set.schemas, ["EssayResponse", { type: "object", title: "another" }]]);
    const { site } = shown.set;
    const made: Loose = toOpenApi({ services: [service, twin] as never, site, baseUrl: BASE_URL, schemas: taken });
    expect(Object.keys(made.components.schemas)).to.include.members([
      "EssayResponseBody",
      "EssayResponseBodySource",
      "Essay2Response",
      "Essay2ResponseSource",
    ]);
  });

  it("splits an input between path, query and body", () => {
    const essay = operation("/v1/essays/{language}", "post");
    expect(essay.parameters).to.deep.equal([
      {
        name: "language",
        in: "path",
        description: "The language of the essay.",
        required: true,
        schema: { type: "string", maxLength: 5 },
      },
    ]);
    expect(essay.requestBody.content["application/json"].schema.required).to.deep.equal(["subject"]);
    expect(essay.requestBody.content["application/json"].examples.example1.value).to.deep.equal({
      subject: "telephones",
    });
    const table = operation("/v1/tables/{name}", "get");
    expect(table.parameters.map(({ name, in: place, required }: Loose) => [name, place, required])).to.deep.equal([
      ["name", "path", true],
      ["full", "query", false],
    ]);
    expect(table).not.to.have.property("requestBody");
  });

  it("describes what each kind of operation can answer, and nothing else", () => {
    const statuses = (path: string, method: string): string[] => Object.keys(operation(path, method).responses);
    const common = ["200", "400", "404", "408", "414", "422", "429", "431", "500", "502", "503", "504"];
    expect(statuses("/v1/tables/{name}", "get")).to.have.members(common);
    expect(statuses("/v1/toss", "post")).to.have.members([...common, "402", "403", "409", "413", "415"]);
    const service = shown.service("toss");
    const { price: _, ...manifest } = { ...service.manifest, sign_in: true };
    const { site, schemas } = shown.set;
    const made: Loose = toOpenApi({ services: [{ ...service, manifest }], site, baseUrl: BASE_URL, schemas });
    const ofWallets = Object.keys(made.paths["/v1/toss"].post.responses);
    expect(ofWallets, "a wallet that signs in can be refused").to.have.members([
      ...common,
      ...["402", "403", "413", "415"],
    ]);
  });

  it("declares a receipt where the money may have moved", () => {
    const { responses } = document.components;
    const told = Object.keys(responses).filter((name) => responses[name].headers?.["PAYMENT-RESPONSE"]);
    expect(told.sort()).to.deep.equal(["PaymentRequired", "Problem502"]);
  });

  it("can hold prices of more digits than six", () => {
    const service = shown.service("toss");
    const dear = { ...service, manifest: { ...service.manifest, price: "0.00123456789" } };
    const { site, schemas } = shown.set;
    const made: Loose = toOpenApi({ services: [dear], site, baseUrl: BASE_URL, schemas });
    expect(made.paths["/v1/toss"].post["x-payment-info"].price.amount).to.equal("0.00123456789");
  });
});
