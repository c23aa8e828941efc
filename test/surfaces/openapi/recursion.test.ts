import { validate } from "@readme/openapi-parser";
import { expect } from "chai";
import { toOpenApi } from "../../../runtime/surfaces/openapi/openapi.ts";
import { BASE_URL, type Loose, showSet } from "../support/fixture-set.ts";

describe("a field that contains itself", () => {
  const TREE = { $ref: "#/components/schemas/EssayInputRecursive1" };
  const tree = { type: "object", properties: { kids: { type: "array", items: TREE } } };

  /** The description of a service with a path parameter, and a tree beside it, under two ids that are alike. */
  async function describeTree(): Promise<Loose> {
    const { set, service } = await showSet();
    const essay = service("essay");
    const properties = { language: { type: "string" }, tree: { $ref: "#/$defs/Tree" } };
    const Tree = { type: "object", properties: { kids: { type: "array", items: { $ref: "#/$defs/Tree" } } } };
    const toService = (id: string, path: string): Loose => ({
      ...essay,
      manifest: { ...essay.manifest, id },
      path,
      routes: ["POST", "GET"].map((method) => ({ method, path })),
      input: { ...essay.input, document: { type: "object", properties, required: ["language"], $defs: { Tree } } },
    });
    const services = [toService("essay", "/v1/essays/{language}"), toService("Essay", "/v1/others/{language}")];
    return toOpenApi({ services, site: set.site, baseUrl: BASE_URL, schemas: set.schemas });
  }

  it("leaves the description valid beside a path parameter, and in a query", async () => {
    const document = await describeTree();
    expect(await validate(structuredClone(document))).to.deep.include({ valid: true });
  });

  it("is one component, whichever way it is sent", async () => {
    const { paths, components } = await describeTree();
    const { get, post } = paths["/v1/essays/{language}"];
    const body = post.requestBody.content["application/json"].schema;
    expect(body).to.deep.equal({ type: "object", properties: { tree }, required: [] });
    expect(get.parameters.at(-1).schema.contentSchema).to.deep.equal(tree);
    expect(components.schemas.EssayInputRecursive1).to.deep.equal(tree);
    expect(Object.keys(components.schemas).filter((name) => name.endsWith("Recursive1"))).to.deep.equal([
      "EssayInputBodyRecursive1",
      "EssayInputRecursive1",
    ]);
  });
});
