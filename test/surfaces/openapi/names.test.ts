import { validate } from "@readme/openapi-parser";
import { expect } from "chai";
import { edit, type Files, makeDirectory, TOSS } from "../../core/set/served-directory.ts";
import { type Loose, showSet } from "../support/fixture-set.ts";

/** A shop where a service, a category and schemas have names that payphone's own parts of the description have, too. */
function namedAlike(): Files {
  const { "manifests/toss.yaml": toss = "", "schemas/TossResponse.json": response = "", ...rest } = TOSS;
  const other = toss
    .replace("/v1/toss", "/v1/other")
    .replace("output: TossResponse", "output: Health\ncategory: probes");
  const manifest = other.replace("id: toss", "id: health").replace("/v1/other", "/v1/toss");
  const manifests = { "manifests/health.yaml": manifest, "manifests/toss.yaml": other };
  const own = { ...rest, ...manifests, "schemas/Health.json": response };
  const side = edit(own, "schemas/Health.json", "Side.json", "Problem.json");
  return { ...side, "schemas/Problem.json": TOSS["schemas/Side.json"] as string };
}

describe("names in /openapi.json that payphone's own parts have", () => {
  let document: Loose;
  before(async () => {
    document = (await showSet(await makeDirectory(namedAlike()))).json("/openapi.json");
  });

  it("leave a service's schemas as they are in the set, and payphone's own, too", () => {
    const resolve = ({ $ref }: Loose): Loose => document.components.schemas[$ref.split("/").at(-1)];
    const { responses } = document.paths["/v1/toss"].post;
    const answer = resolve(responses["200"].content["application/json"].schema);
    expect(Object.keys(answer.properties)).to.deep.equal(["sides"]);
    expect(resolve(answer.properties.sides.items)).to.deep.equal({ type: "string", enum: ["heads", "tails"] });
    const own = document.paths["/health"].get.responses["200"].content["application/json"].schema;
    expect(Object.keys(resolve(own).properties)).to.deep.equal(["status", "service"]);
  });

  it("stand for one operation and one tag each", async () => {
    expect(document.paths["/v1/toss"].post.operationId).to.equal("health");
    expect(document.paths["/health"].get.operationId).to.equal("health_probe");
    expect(document.tags.map(({ name }: Loose) => name)).to.deep.equal(["probes"]);
    expect(await validate(structuredClone(document))).to.deep.include({ valid: true });
  });
});

describe("a field of an example that is called $ref", () => {
  it("is no reference that leads nowhere: /openapi.json omits the example", async () => {
    const note = '"label": { "type": "object", "examples": [{ "$ref": "x.json" }] }, "side"';
    const noted = edit(TOSS, "schemas/TossRequest.json", '"label"', note);
    const given = edit(noted, "manifests/toss.yaml", "{ coins: 2 }", '{ coins: 2, label: { $ref: "#/x" } }');
    const files = edit(given, "manifests/toss.yaml", "price", "aliases: [GET /v1/toss]\nprice");
    const document = (await showSet(await makeDirectory(files))).json("/openapi.json");
    expect(await validate(structuredClone(document))).to.deep.include({ valid: true });
    const { get, post } = document.paths["/v1/toss"];
    expect(post.requestBody.content["application/json"]).to.have.all.keys("schema");
    expect(get.parameters.map(({ name }: Loose) => name)).to.deep.equal(["coins", "label", "side"]);
    expect(post.responses["200"].content["application/json"].examples).to.have.all.keys("example1");
  });
});

describe("a part of a schema that takes nothing, or anything", () => {
  it("is a component like any other, which says so in an object as generators want it", async () => {
    const parts = '"$defs": { "Never": false, "Any": true }, "properties": { "never": { "$ref": "#/$defs/Never" },';
    const more = `${parts} "any": { "$ref": "#/$defs/Any" },`;
    const files = edit(TOSS, "schemas/TossResponse.json", '"properties": {', more);
    const document = (await showSet(await makeDirectory(files))).json("/openapi.json");
    expect(await validate(structuredClone(document))).to.deep.include({ valid: true });
    const { schemas } = document.components;
    expect(schemas.TossResponse.properties.never).to.deep.equal({ $ref: "#/components/schemas/TossResponseNever" });
    expect([schemas.TossResponseNever, schemas.TossResponseAny]).to.deep.equal([{ not: {} }, {}]);
  });
});
