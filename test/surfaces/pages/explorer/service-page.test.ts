import { expect } from "chai";
import { loadAssets } from "../../../../runtime/cli/serve/assets.ts";
import { createCompiler } from "../../../../runtime/core/schema/validator.ts";
import type { Service } from "../../../../runtime/core/service.ts";
import type { Manifest } from "../../../../runtime/core/set/manifest.ts";
import { toDocuments } from "../../../../runtime/surfaces/documents.ts";
import { toServicePages } from "../../../../runtime/surfaces/pages/docs/service-page.ts";
import { BASE_URL, ROOT, showSet } from "../../support/fixture-set.ts";

describe("the page of a service", () => {
  /** The text of the page of one of this project's services, with changes. */
  async function textOf(id: string, changes: Partial<Manifest> = {}, routes?: Service["routes"]): Promise<string> {
    const { set, service } = await showSet(ROOT);
    const given = service(id);
    const services = [{ ...given, manifest: { ...given.manifest, ...changes }, routes: routes ?? given.routes }];
    const pages = toServicePages({
      services,
      site: set.site,
      schemas: set.schemas,
      baseUrl: BASE_URL,
      isSandbox: true,
    });
    return (pages.get(`/docs/${id}`)?.markup ?? "").replaceAll(/<[^>]*>/g, "");
  }

  it("lists a hundred services around its own in a larger shop, and leads to the list of all", async () => {
    const { set, service } = await showSet(ROOT);
    const roll = service("roll");
    const services = Array.from({ length: 300 }, (_, at) => ({
      ...roll,
      manifest: { ...roll.manifest, id: `r${at}` },
    }));
    const { site, schemas } = set;
    const pages = toServicePages({ services, site, schemas, baseUrl: BASE_URL, isSandbox: true });
    const listed = (id: string): string[] =>
      [...(pages.get(`/docs/${id}`)?.markup ?? "").matchAll(/<a href="\/docs\/(r\d+)"/g)].map(
        ([, other = ""]) => other,
      );
    for (const [id, first, last] of [
      ["r0", "r0", "r99"],
      ["r150", "r100", "r199"],
      ["r299", "r200", "r299"],
    ] as const)
      expect(listed(id)).to.have.length(100).and.include.members([first, id, last]);
    expect(pages.get("/docs/r7")?.markup).to.include('<a href="/docs">All 300 services</a>');
    expect(pages.get("/docs/r7")?.markup, "a search in a part of the list").not.to.include("Find a service");
  });

  it("is shown beside the explorer's script of the same name", async () => {
    const { set, service } = await showSet(ROOT);
    const roll = service("roll");
    const services = [{ ...roll, manifest: { ...roll.manifest, id: "explorer.js" } }];
    const { site, schemas } = set;
    const assets = await loadAssets();
    const documents = toDocuments({ services, site, schemas, baseUrl: BASE_URL, isSandbox: true, assets });
    const [, address = ""] = /<a class="title" href="([^"]+)"/.exec(`${documents.get("/docs")?.body}`) ?? [];
    expect(documents.get(address)?.body.toString()).to.include("<h1>Signed random roll</h1>");
    expect(documents.get("/docs/explorer.js")?.type).to.include("text/javascript");
  });

  it("tells its script whether the money is test money", async () => {
    const { set, service } = await showSet(ROOT);
    for (const testnet of [true, false]) {
      const site = { ...set.site, rails: set.site.rails.map((rail) => ({ ...rail, testnet })) };
      const options = { services: [service("roll")], site, schemas: set.schemas, baseUrl: BASE_URL, isSandbox: false };
      const { markup = "" } = toServicePages(options).get("/docs/roll") ?? {};
      const [, facts = ""] = /id="_site">(.*?)<\/script>/.exec(markup) ?? [];
      expect(JSON.parse(facts)).to.include({ sandbox: false, test: testnet });
    }
  });

  it("has a field in its form, and a row in its table, for each field that stands in a part of the schema", async () => {
    const { set, service } = await showSet(ROOT);
    const zip = { allOf: [{ type: "string", pattern: "^[0-9]{5}$" }] };
    const way = { anyOf: [{ const: "in" }, { const: "out" }] };
    const fields = { properties: { n: true, way, version: { const: "2" } } };
    const anyOf = [{ required: ["n"] }, { required: ["way"] }];
    const schema = { type: "object", allOf: [{ properties: { zip }, required: ["zip"] }, fields], anyOf };
    const [given, input] = [service("roll"), createCompiler(new Map())(schema)];
    const services = [{ ...given, input, output: input }];
    const { site, schemas } = set;
    const pages = toServicePages({ services, site, schemas, baseUrl: BASE_URL, isSandbox: true });
    const { markup = "" } = pages.get("/docs/roll") ?? {};
    expect(markup)
      .to.match(/data-field="zip" data-type="string" data-required/)
      .and.to.include('data-field="n"');
    expect(markup).to.match(/data-field="way".*<option value="in">in<.option><option value="out">out<.option>/);
    expect(markup).to.match(/data-field="version" data-type="string".*<option value="2">2</);
    expect(markup).to.include("<h2>Takes</h2>\n<p>Needs n, or way.</p>");
    expect(markup.match(/<code>zip<\/code>/g), "the form, Takes and Gives").to.have.length(3);
  });

  it("says where each form takes its fields", async () => {
    expect(await textOf("screen")).to.include("Also answers GET, with the same fields in the query.");
    const routes = (["GET", "POST"] as const).map((method) => ({ method, path: "/v1/screen" }));
    expect(await textOf("screen", {}, routes)).to.include("Also answers POST, with the same fields in the body.");
  });

  it("says that a file is answered, and not how it stands in JSON", async () => {
    expect(await textOf("roll", { media: { type: "image/png", max_bytes: 1000 } }))
      .to.include("A file of type image/png, of at most 1000 bytes.")
      .and.not.include("An example of an answer");
  });
});
