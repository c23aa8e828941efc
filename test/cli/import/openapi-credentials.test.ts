import { expect } from "chai";
import { faultsOf, importDocument, manifestOf } from "./shop.ts";

describe("a credential that a document lists as a parameter or field", () => {
  it("is the seller's own where it is required, and asked of no buyer", async () => {
    const inQuery = (name: string, description: string) => ({
      name,
      in: "query",
      required: true,
      description,
      schema: {},
    });
    const credentials = [inQuery("token", "Authentication token. Requires a scope."), inQuery("access_token", "")];
    const parameters = [...credentials, inQuery("key", "The key of the song, such as C.")];
    const optional = { ...inQuery("api_key", ""), required: false };
    const { dir, report } = await importDocument({ find: { parameters: [...parameters, optional] } });
    expect((await manifestOf(dir, "shelf_find")).proxy).to.deep.include({ query: { key: "{key}" } });
    const said = "the credential for Shelf: sent in the query parameter";
    expect(report).to.include(`set SHELF_TOKEN_KEY, ${said} token (`);
    expect(report).to.include(`set SHELF_ACCESS_TOKEN_KEY, ${said} access_token (`);
    expect(report).to.include("find: api_key is a credential: name it").and.not.include("token is a credential");
    const key = { variable: "SHELF_TOKEN_KEY", query: "token" };
    expect((await manifestOf(dir, "_site")).upstreams)
      .to.have.nested.property("[0].keys[0]")
      .deep.equal(key);
    expect(await faultsOf(dir)).to.deep.equal([]);
  });

  it("is named once for all operations that know it, as Google's key, which each of them does", async () => {
    const parameters = [{ name: "api_key", in: "query", schema: {} }];
    const operations = { find: { parameters }, list: { parameters }, show: { parameters }, tell: { parameters } };
    const { report } = await importDocument(operations);
    expect(report.match(/.+ is a credential: /g)).to.deep.equal([
      "note: find, list, show and 1 more: api_key is a credential: ",
    ]);
  });

  it("goes with the document's own credential where it is required, and a scheme has its name, as Trello's token", async () => {
    const schemes = ["key", "token"].map((name) => [name, { type: "apiKey", in: "query", name }]);
    const components = { securitySchemes: Object.fromEntries(schemes) };
    const parameters = ["key", "token"].map((name) => ({ name, in: "query", required: true, schema: {} }));
    const login = { name: "Authorization", in: "header", required: true, schema: {}, description: "Basic login." };
    const elsewhere = { parameters: [login], servers: [{ url: "https://files.example.com" }], security: [] };
    const operations = { find: { parameters, security: [{ key: [] }, { token: [] }] }, keep: elsewhere };
    const { dir } = await importDocument(operations, { components });
    expect((await manifestOf(dir, "shelf_find")).proxy).to.not.have.property("query");
    const { upstreams } = await manifestOf(dir, "_site");
    expect((upstreams as { key: object; keys?: object }[]).map(({ key, keys }) => ({ key, keys }))).to.deep.equal([
      { key: { variable: "SHELF_KEY", query: "key" }, keys: [{ variable: "SHELF_TOKEN_KEY", query: "token" }] },
      { key: { variable: "SHELF_AUTHORIZATION_KEY", header: "authorization", scheme: "Basic" }, keys: undefined },
    ]);
  });

  it("is named where it is of a body, and looks like a credential, as Plaid's secret", async () => {
    const text = (description: string) => ({ type: "string", description });
    const properties = { secret: text("Your API `secret`."), access_token: text(""), password: text("The user's.") };
    const requestBody = { content: { "application/json": { schema: { type: "object", properties } } } };
    const { report } = await importDocument({ find: { method: "post", requestBody } });
    expect(report).to.include("asked for what may be your credential: shelf_find (secret, access_token); where");
  });
});

describe("a credential that a document names", () => {
  it("cannot be sent where each request is signed anew, as by AWS Signature Version 4", async () => {
    const sigv4 = { type: "apiKey", in: "header", name: "Authorization", "x-amazon-apigateway-authtype": "awsSigv4" };
    const more = { components: { securitySchemes: { sigv4 } }, security: [{ sigv4: [] }] };
    const { report } = await importDocument({ find: {} }, more);
    expect(report).to.include("asks for credentials that cannot be sent: sigv4").and.not.include("set SHELF_KEY");
  });

  it("is sent once where two schemes of one requirement are the same, as OpenFEC's", async () => {
    const inQuery = { type: "apiKey", in: "query", name: "api_key" };
    const securitySchemes = { one: { type: "apiKey", in: "header", name: "X-Api-Key" }, two: inQuery, three: inQuery };
    const more = { components: { securitySchemes }, security: [{ one: [], two: [], three: [] }] };
    const { dir, report } = await importDocument({ find: {} }, more);
    expect(report).to.not.include("cannot be sent").and.not.include("other credentials");
    const { upstreams } = await manifestOf(dir, "_site");
    expect(upstreams)
      .to.have.nested.property("[0].keys")
      .deep.equal([{ variable: "SHELF_TWO_KEY", query: "api_key" }]);
    const schemes = { basic: { type: "http", scheme: "basic" }, bearer: { type: "http", scheme: "bearer" } };
    const both = { components: { securitySchemes: schemes }, security: [{ basic: [], bearer: [] }] };
    expect((await importDocument({ find: {} }, both)).report, "two in one header").to.include("cannot be sent: bearer");
  });
});
