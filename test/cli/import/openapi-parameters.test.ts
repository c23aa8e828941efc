import { expect } from "chai";
import { removeDirectories } from "../../core/set/served-directory.ts";
import { importAll, manifestOf, openShop, writeDocument } from "./shop.ts";

describe("a parameter of an imported operation", () => {
  after(removeDirectories);

  it("takes a part of a form as a file whose encoding is binary", async () => {
    const dir = await openShop();
    const schema = { type: "object", properties: { file: { type: "string", contentEncoding: "binary" } } };
    const requestBody = { content: { "multipart/form-data": { schema } } };
    await importAll(dir, await writeDocument(dir, { send: { method: "post", requestBody } }));
    expect((await manifestOf(dir, "shelf_send")).proxy).to.deep.include({ files: ["file"] });
  });

  it("takes a parameter of a path of which nothing is said as a text", async () => {
    const dir = await openShop();
    const parameters = [{ name: "id", in: "path", required: true, schema: { description: "Any." } }];
    await importAll(dir, await writeDocument(dir, { "shelves/{id}": { operationId: "one", parameters } }));
    const id = { type: "string", minLength: 1, description: "Any." };
    expect(await manifestOf(dir, "shelf_one"))
      .to.have.nested.property("input.properties.id")
      .deep.equal(id);
  });

  it("leaves out an object in the query whose fields are parameters, too, and says so", async () => {
    const page = { name: "page", in: "query", schema: { type: "integer" } };
    const paging = { name: "paging", in: "query", schema: { type: "object", properties: { page: {}, size: {} } } };
    const dir = await openShop();
    const { report } = await importAll(dir, await writeDocument(dir, { list: { parameters: [paging, page] } }));
    expect(report).to.include("paging is left out: it is an object whose fields are parameters of their own");
    expect((await manifestOf(dir, "shelf_list")).proxy).to.deep.include({ query: { page: "{page}" } });
  });
});
