import { expect } from "chai";
import { faultsOf, importAll, importDocument, manifestOf, openShop, SITE, writeDocument } from "./shop.ts";

describe("the address of an imported API", () => {
  const tenant = { description: "Yours." };
  const servers: readonly [what: string, server: object, url: string | undefined, note: RegExp][] = [
    [
      "is the operator's where a part of it has no default",
      { url: "https://{tenant}.shelf.example.com", variables: { tenant } },
      undefined,
      /^note: the document names no server: set SHELF_URL to the API's address$/m,
    ],
    [
      "is told to be of the document's defaults",
      {
        url: "https://{tenant}.shelf.example.com/{v}",
        variables: { tenant: { default: "demo" }, v: { default: 1, enum: [1] } },
      },
      "https://demo.shelf.example.com/1",
      /^note: parts of the address are the document's defaults \(tenant\): https:\/\/demo\.shelf\.example\.com\/1; .* set SHELF_URL$/m,
    ],
    [
      "has the path that the document names alone",
      { url: "/api/v3/" },
      undefined,
      /^note: .* set SHELF_URL to the API's address, which ends in \/api\/v3$/m,
    ],
    [
      "is by https where the document leaves that open",
      { url: "//shelf.example.com/v1" },
      "https://shelf.example.com/v1",
      /^/,
    ],
  ];
  for (const [what, server, url, note] of servers)
    it(what, async () => {
      const { dir, report } = await importDocument({ look: {} }, { servers: [server] });
      expect(report).to.match(note);
      const { upstreams } = await manifestOf(dir, "_site");
      expect((upstreams as { id: string; url?: string }[]).map((one) => [one.id, one.url])).to.deep.equal([
        ["shelf", url],
      ]);
    });

  it("is found beside entries that are no servers", async () => {
    const servers = [null, "https://other.example.com", {}, { url: "https://shelf.example.com/v1" }];
    const { dir } = await importDocument({ look: {} }, { servers });
    expect((await manifestOf(dir, "_site")).upstreams).to.have.nested.property(
      "[0].url",
      "https://shelf.example.com/v1",
    );
  });

  it("of another server gets the credential only where an operation there asks for one", async () => {
    const at = (host: string) => ({ servers: [{ url: `https://${host}.example.com` }] });
    const operations = {
      look: {},
      see: { ...at("weather"), security: [] },
      view: { ...at("weather"), security: [{}] },
      send: { ...at("files"), security: [] },
      keep: at("files"),
      ask: { security: [] },
    };
    const { dir } = await importDocument(operations, { security: [{ app: [] }] });
    const { upstreams } = await manifestOf(dir, "_site");
    expect(
      (upstreams as { url: string; key?: object }[]).map(({ url, key }) => [url, key !== undefined]),
    ).to.deep.equal([
      ["https://shelf.example.com", true],
      ["https://weather.example.com", false],
      ["https://files.example.com", true],
    ]);
  });

  it("of another server gets no credential where its operations leave it to a document that asks for none", async () => {
    const operations = {
      look: { security: [{ app: [] }] },
      see: { servers: [{ url: "https://weather.example.com" }] },
    };
    const { dir } = await importDocument(operations, { security: [{}] });
    const { upstreams } = await manifestOf(dir, "_site");
    expect(upstreams).to.have.nested.property("[0].url", "https://shelf.example.com");
    expect(upstreams).to.have.nested.property("[1].url", "https://weather.example.com");
    expect(upstreams).not.to.have.nested.property("[1].key");
  });

  it("gets the credential, also an optional one, where the document names no server, or its path alone", async () => {
    for (const servers of [undefined, [{ url: "/api/v1" }]]) {
      const { dir } = await importDocument({ look: {} }, { servers, security: [{}, { app: [] }] });
      const { upstreams } = await manifestOf(dir, "_site");
      expect(upstreams).to.have.nested.property("[0].key.header", "x-app");
    }
  });

  it("is another one for each path that the document names alone", async () => {
    const later = { url: "/api/{v}", variables: { v: { default: "v2" } } };
    const operations = { look: {}, see: { servers: [later] }, ask: { servers: [{ url: "/api/v1/" }] } };
    const { dir, report } = await importDocument(operations, { servers: [{ url: "/api/v1" }] });
    expect(report).to.match(/ set SHELF_2_URL to the API's address, which ends in \/api\/v2$/m);
    const used = ["look", "see", "ask"].map(async (id) => (await manifestOf(dir, `shelf_${id}`)).proxy);
    expect((await Promise.all(used)).map((proxy) => (proxy as { upstream: string }).upstream)).to.deep.equal([
      "shelf",
      "shelf-2",
      "shelf",
    ]);
  });

  it("has a name without two dashes in a row, however long that of the document is", async () => {
    const operations = { look: {}, see: { servers: [{ url: "https://weather.example.com" }] } };
    const info = { title: "Abcdefghijklmnopqrstuvwxyzab Cd" };
    const { dir } = await importDocument(operations, { info });
    const { upstreams } = await manifestOf(dir, "_site");
    expect(upstreams).to.have.nested.property("[1].id", "abcdefghijklmnopqrstuvwxyzab-2");
  });

  it("is added to a list of upstreams that is empty, and to nothing else", async () => {
    for (const empty of ["upstreams:", "upstreams: []"]) {
      const dir = await openShop({ "manifests/_site.yaml": `${SITE}${empty}\n` });
      await importAll(dir, await writeDocument(dir, { look: {} }));
      expect(await faultsOf(dir), empty).to.deep.equal([]);
    }
    for (const other of ["upstreams: {}", "upstreams: none"]) {
      const dir = await openShop({ "manifests/_site.yaml": `${SITE}${other}\n` });
      const failed = await importAll(dir, await writeDocument(dir, { look: {} })).catch(({ message }) => message);
      expect(failed, other).to.equal('upstreams of manifests/_site.yaml is no list: see "payphone check"');
    }
  });
});
