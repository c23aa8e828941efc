import { expect } from "chai";
import { openProxyShop, type ProxyShop } from "../../support/sellers/proxy-shop.ts";
import { siteOf } from "../../support/sellers/site-of.ts";
import type { Asked } from "../../support/sources/scripted-source.ts";
import { LINES } from "./lines.ts";

describe("what a proxied service sends", () => {
  let shop: ProxyShop;
  before(async () => {
    const store = (url: string): string =>
      `{ id: store, title: The store, url: "${url}?plan=free", retries: 0, key: { variable: STORE_KEY, query: app.id } }`;
    const files = Object.entries(LINES).map(([id, text]) => [`manifests/${id}.yaml`, text]);
    shop = await openProxyShop({
      files: (url) => ({ "manifests/_site.yaml": siteOf(store(url)), ...Object.fromEntries(files) }),
      env: { STORE_KEY: "k-3f9a62c1d7" },
    });
    shop.source.script('{"ok":true}');
  });
  after(() => shop.close());

  /** What reaches the upstream. */
  async function send(id: string, input: unknown): Promise<Asked> {
    const before = shop.source.asked.length;
    const response = await shop.buy(`/v1/${id}`, input);
    expect([response.status, shop.source.asked.length], await response.text()).to.deep.equal([200, before + 1]);
    return shop.source.asked.at(-1) as Asked;
  }

  /** What is refused before anybody pays or is asked. */
  async function refuse(id: string, input: unknown): Promise<string> {
    const before = [shop.source.asked.length, shop.rail.moved.size];
    const response = await shop.buy(`/v1/${id}`, input);
    const text = await response.text();
    expect([response.status, shop.source.asked.length, shop.rail.moved.size], text).to.deep.equal([422, ...before]);
    return text;
  }

  it("is a form with files, whose bytes, names and types are those of the input", async () => {
    const png = Buffer.from("89504e470d0a1a0a00ff0d0a2d2d", "hex");
    const file = { data: png.toString("base64"), name: 'a"\u00e9.png', media: "image/png" };
    const { path, headers, body } = await send("upload", {
      title: "x",
      tags: ["one", "two"],
      about: { deep: [1] },
      file,
      more: ["aGk=", "aGk"],
    });
    expect(path).to.equal("/files/x?plan=free&app.id=k-3f9a62c1d7");
    expect(headers["content-type"]).to.match(/^multipart\/form-data; boundary=/);
    expect(body).to.include('name="file"; filename="a%22\u00e9.png"').and.include("Content-Type: image/png");
    expect(
      body.match(/name="more"; filename="more"\r\nContent-Type: application\/octet-stream\r\n\r\nhi\r\n/g),
    ).to.have.length(2);
    expect(body.match(/name="tags"\r\n\r\n(?:one|two)\r\n/g)).to.have.length(2);
    const about = 'name="about"\r\nContent-Type: application/json\r\n\r\n{"deep":[1]}\r\n';
    expect(body).to.include(about).and.not.include('name="title"');
  });

  it("is a form with files whose mapping is sent field by field, with a number for each item of a list", async () => {
    const { body } = await send("attach", { filter: { a: "1=2 & 3", "b.c": [{ d: 4 }] } });
    const fields = [...body.matchAll(/name="(filter.*)"\r\n\r\n(.*)\r\n/g)].map(([, name, text]) => [name, text]);
    expect(fields).to.deep.equal([
      ["filter[a]", "1=2 & 3"],
      ["filter[b.c][0][d]", "4"],
    ]);
    expect(body, "constants as they are written").to.include('name="v"\r\n\r\n1.10\r\n');
    expect(body, "and numbers in JSON").to.include('name="of"\r\nContent-Type: application/json\r\n\r\n{"v":1.1}\r\n');
  });

  for (const [what, file] of [
    ["no base64", { data: "no base64!" }],
    ["a name that leads elsewhere", { data: "aGk=", name: "../../etc/passwd" }],
    ["a name with a line break", { data: "aGk=", name: 'a"\r\nx: y' }],
    ["a type that is none", { data: "aGk=", media: "image/png\r\nx: y" }],
    ["nothing", { data: "", name: ".." }],
  ] as const)
    it(`is refused unpaid for a file with ${what}`, async () => {
      expect(await refuse("upload", { title: "x", file })).to.include('"file"');
    });

  it("is no form in which an integer is not the one that was meant", async () => {
    const input = { title: "x", file: { data: "aGk=" } };
    for (const about of [9007199254740992, 1e300])
      for (const more of [{ count: about }, { counts: [1, about] }])
        expect(await refuse("upload", { ...input, ...more })).to.include("9007199254740991");
    expect((await send("upload", { ...input, count: -9007199254740991 })).body).to.include(
      "\r\n\r\n-9007199254740991\r\n",
    );
  });

  it("is bytes or a text as they are, under the media type that the manifest or the input names", async () => {
    const put = await send("bytes", { data: Buffer.from("\0\xff", "latin1").toString("base64"), media: "image/x" });
    expect([put.method, put.headers["content-type"], put.headers["content-length"]]).to.deep.equal([
      "PUT",
      "image/x",
      "2",
    ]);
    expect((await send("bytes", { data: "aGk=" })).headers["content-type"]).to.equal("application/octet-stream");
    await refuse("bytes", { data: "h\u00e9" });
    await refuse("bytes", { data: "aGk=", media: "a/b\r\nx-admin: 1" });
    const xml = await send("text", { text: '</a><b c="1">' });
    expect([xml.headers["content-type"], xml.body]).to.deep.equal([
      "application/xml",
      "<a>&#60;/a&#62;&#60;b c=&#34;1&#34;&#62;</a>",
    ]);
    for (const character of ["\u0001", "\ufffe", "\uffff"]) await refuse("text", { text: `a${character}` });
    const patch = await send("patch", { text: "1" });
    expect([patch.headers["content-type"], patch.body]).to.deep.equal(["application/merge-patch+json", '{"text":"1"}']);
    const bare = await send("bare", {});
    expect([bare.headers["content-type"], bare.body]).to.deep.equal([undefined, ""]);
  });

  it("is a form with the fields of a mapping", async () => {
    const { headers, body } = await send("form", {
      filter: { a: 1, "b&c": undefined, list: [{ d: "e&f" }], none: null },
    });
    expect(headers["content-type"]).to.equal("application/x-www-form-urlencoded");
    expect(body).to.equal("mode=payment&filter%5Ba%5D=1&filter%5Blist%5D%5B0%5D%5Bd%5D=e%26f");
    await refuse("form", { filter: { "a]=1&mode": "free" } });
  });

  it("keeps or encodes the slashes of a value where the manifest says so", async () => {
    expect((await send("encoded", { text: "group/sub/project" })).path).to.match(
      /^\/projects\/group%2Fsub%2Fproject\/issues\?/,
    );
    expect((await send("kept", { text: "docs/a b.md" })).path).to.match(/^\/contents\/docs\/a%20b\.md\?/);
  });

  for (const trick of [
    "..",
    "a/..",
    "../a",
    "a/../../b",
    "/a",
    "a/",
    "a//b",
    "./a",
    "a/.",
    "a/..;x/b",
    "a/%2e%2e/b",
    "a\\..\\b",
    "%2e%2e/a",
    "a%2fb",
    "a/\0",
    "a/..%3bx",
    "",
  ])
    it(`goes no way up through a path with slashes: ${JSON.stringify(trick)}`, async () => {
      await refuse("encoded", { text: trick });
      await refuse("kept", { text: trick });
    });

  it("is a query of any fields, each in its place", async () => {
    const deep = await send("deep", { filter: { a: 1, b: ["x", "y&z=1"], c: { gte: 2 }, none: null } });
    expect(new URL(deep.path, "http://store").searchParams.toString()).to.equal(
      new URLSearchParams([
        ["plan", "free"],
        ["app.id", "k-3f9a62c1d7"],
        ["filter[a]", "1"],
        ["filter[b]", "x"],
        ["filter[b]", "y&z=1"],
        ["filter[c][gte]", "2"],
        ["limit", "3"],
      ]).toString(),
    );
    const open = await send("open", { filter: { a: 1, b: [true, "x"] } });
    expect(open.path).to.equal("/list?plan=free&app.id=k-3f9a62c1d7&a=1&b=true&b=x&limit=3");
    expect((await send("open", {})).path).to.equal("/list?plan=free&app.id=k-3f9a62c1d7&limit=3");
  });

  for (const key of [
    "limit",
    "LIMIT",
    "plan",
    "app.id",
    "app_id",
    "api_key",
    "api.key",
    "token",
    "a&b",
    "a[b",
    "a]b",
    "__proto__",
    "a=b",
    "",
    "a\r\nb",
    "a b",
  ])
    it(`takes no field of a query that is the operator's or would be read as more: ${JSON.stringify(key)}`, async () => {
      await refuse("open", JSON.parse(`{"filter":{${JSON.stringify(key)}:"1"}}`));
      if (!/^[\w.]+$/.test(key) || key === "__proto__")
        await refuse("deep", JSON.parse(`{"filter":{${JSON.stringify(key)}:"1"}}`));
    });

  it("writes a mapping as pairs in paths, queries and headers", async () => {
    const { path, headers } = await send("pairs", { filter: { r: 1, g: "x/y".replace("/", "-") } });
    expect([path, headers["x-one"]]).to.deep.equal([
      "/colours/r,1,g,x-y?plan=free&app.id=k-3f9a62c1d7&one=r,1,g,x-y",
      "r,1,g,x-y",
    ]);
    for (const value of ["a,b", "a/b", "a\r\nb", { deep: 1 }]) await refuse("pairs", { filter: { r: value } });
  });

  it("does not charge for a failure that comes with a good status, and says why", async () => {
    const before = shop.rail.moved.size;
    shop.source.script('{"error":{"message":"quota <b>exceeded</b>"}}', '{"error":true}', '{"error":false,"ok":true}');
    const said = await shop.buy("/v1/judged", { text: "a" });
    expect([said.status, ((await said.json()) as { detail: string }).detail]).to.deep.equal([
      400,
      "The store: quota exceeded",
    ]);
    expect((await shop.buy("/v1/judged", { text: "a" })).status).to.equal(400);
    expect(shop.rail.moved.size).to.equal(before);
    expect((await shop.buy("/v1/judged", { text: "a" })).status).to.equal(200);
    shop.source.script(`{"error":{"message":${"[".repeat(100_000)}${"]".repeat(100_000)}}}`, '{"ok":true}');
    expect((await shop.buy("/v1/judged", { text: "a" })).status).to.equal(400);
  });
});
