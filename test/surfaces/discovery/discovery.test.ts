import { expect } from "chai";
import type { Manifest } from "../../../runtime/core/set/manifest.ts";
import { toDiscovery } from "../../../runtime/surfaces/discovery/discovery.ts";
import { toServerCard } from "../../../runtime/surfaces/mcp/server-card.ts";
import { toCost } from "../../../runtime/surfaces/rpc/cost.ts";
import { edit, makeDirectory, TOSS } from "../../core/set/served-directory.ts";
import { BASE_URL, type Loose, ROOT, type Shown, showSet } from "../support/fixture-set.ts";

describe("/.well-known/x402", () => {
  let shown: Shown;
  let document: Loose;
  before(async () => {
    shown = await showSet();
    document = shown.json("/.well-known/x402");
  });
  const routes = (id: string): Loose[] => document.routes.filter((route: Loose) => route.id === id);

  it("is one document at two paths", () => {
    expect(shown.text("/.well-known/x402.json")).to.equal(shown.text("/.well-known/x402"));
  });

  it("has the catalogue's version, and x402's", () => {
    expect(document).to.include({ version: "1.0", x402Version: 2 });
  });

  it("lists the URLs that cost something for older readers", () => {
    expect(document.resources).to.deep.equal([`${BASE_URL}/v1/essays/{language}`, `${BASE_URL}/v1/toss`]);
  });

  it("names each route with its price on every rail that takes it", () => {
    const [post, get] = routes("toss");
    expect(post).to.include({ method: "POST", url: `${BASE_URL}/v1/toss`, price_usd: "0.01" });
    expect(post.accepts.map(({ display }: Loose) => display)).to.deep.equal(["0.01 USDC", "0.01 USDC", "2 JPYC"]);
    expect(post.accepts[2]).to.include({ network: "eip155:137", amount: "2000000000000000000" });
    expect(get).to.deep.include({ method: "GET", tags: ["random", "games"], price_usd: "0.01" });
    expect([post.input.in, get.input.in]).to.deep.equal(["body", "query"]);
    expect(routes("essay")[0].accepts).to.have.length(2);
  });

  it("brings the schemas along, whole", () => {
    const [post] = routes("toss");
    expect(post.input.schema.properties.coins.maximum).to.equal(100);
    expect(post.output.schema.properties.sides.items.enum).to.deep.equal(["heads", "tails"]);
    expect(routes("essay")[0]).to.deep.include({ path_parameters: ["language"] });
  });

  it("keeps what is free apart, payphone's own endpoints included", () => {
    const paths = document.free_endpoints.map(({ method, path }: Loose) => `${method} ${path}`);
    expect(paths).to.include.members([
      "GET /v1/tables/{name}",
      "GET /health",
      "GET /docs",
      "POST /mcp",
      "POST /v1/a2a",
    ]);
    expect(routes("table")).to.be.empty;
  });

  it("says which services answer a file, and which want a wallet to sign in", () => {
    const { site, schemas } = shown.set;
    const toss = shown.service("toss");
    const { price: _, ...free } = { ...toss.manifest, id: "mine", sign_in: true as const };
    const picture = { ...toss.manifest, id: "picture", media: { type: "image/png", max_bytes: 1024 } };
    const services = [free, picture].map((manifest) => ({ ...toss, manifest }));
    const { routes, free_endpoints } = toDiscovery({ services, site, schemas, baseUrl: BASE_URL, links: {} }) as Loose;
    expect(routes[0].output.schema).to.include({ type: "string", contentMediaType: "image/png" });
    expect(free_endpoints.find(({ id }: Loose) => id === "mine")).to.include({ sign_in: true });
    expect(document.free_endpoints.find(({ id }: Loose) => id === "table")).not.to.have.property("sign_in");
  });

  it("says that yen are fixed tiers, and what rate they imply", async () => {
    const { yen_pricing } = document;
    expect(yen_pricing).to.deep.include({
      pricing_model: "fixed-yen-tiers",
      implied_rate_jpy_per_usd: 200,
      fx_oracle: false,
    });
    expect(yen_pricing.tiers).to.deep.include({ price_usd: "0.001", jpy: "0.1" });
    const { set } = await showSet(ROOT);
    const own = toDiscovery({ services: [], site: set.site, schemas: set.schemas, baseUrl: BASE_URL, links: {} });
    expect((own as Loose).yen_pricing.implied_rate_jpy_per_usd).to.equal(200);
    expect((own as Loose).version).to.equal("2.0");
  });

  it("says nothing of yen where nobody takes any", () => {
    const { site, schemas } = shown.set;
    const rails = site.rails.filter(({ currency }) => currency === "usd");
    const options = { services: shown.services, schemas, baseUrl: BASE_URL, links: {} };
    expect(toDiscovery({ ...options, site: { ...site, rails } })).not.to.have.property("yen_pricing");
    expect(toDiscovery({ ...options, site: { ...site, yen_tiers: {} } })).not.to.have.property("yen_pricing");
  });
});

describe("/llms.txt", () => {
  it("has a title, a summary, and a line with the price for every service", async () => {
    const { text } = await showSet();
    const lines = text("/llms.txt").split("\n");
    expect(lines[0]).to.equal("# Corner shop");
    expect(lines[2]).to.equal("> What the tests sell.");
    expect(lines).to.include("## Paid services").and.include("## Free services");
    expect(text("/llms.txt")).to.include(`- [Coin toss](${BASE_URL}/v1/toss): POST or GET, 0.01 USD.`);
    expect(text("/llms.txt")).to.include(`- [Table](${BASE_URL}/v1/tables/{name}): GET, free.`);
  });

  it("keeps a title that looks like a link, or the end of one, a title", async () => {
    const dir = await makeDirectory(edit(TOSS, "manifests/toss.yaml", "title: Coin toss", 'title: "Coin ](x) [toss]"'));
    const { text } = await showSet(dir);
    expect(text("/llms.txt")).to.include(`- [Coin \\](x) \\[toss\\]](${BASE_URL}/v1/toss)`);
  });

  it("says with which answers a payment that may have been taken is sent again", async () => {
    const { text } = await showSet();
    const again = text("/llms.txt")
      .split("\n")
      .find((line) => line.includes("with the same payment"));
    for (const code of ["settlement-unknown", "paid-not-delivered"]) expect(again).to.include(`\`${code}\``);
  });
});

describe("what a wallet that signs in gets free of charge", () => {
  const HEADER = "SIGN-IN-WITH-X";

  it("is told in words: calls a day, or an hour", () => {
    const toss = { price: "0.01" } as Manifest;
    const costs = [{ calls: 3, per: "day" } as const, { calls: 1, per: "hour" } as const].map((free) =>
      toCost({ ...toss, free }),
    );
    expect(costs[0]).to.match(/gets 3 calls a day free of charge\.$/);
    expect(costs[1]).to.match(/gets 1 call an hour free of charge\.$/);
  });

  it("is told in every document: some calls of a service", async () => {
    const free = "free: { calls: 3, per: hour }\ntags:";
    const { json, text } = await showSet(await makeDirectory(edit(TOSS, "manifests/toss.yaml", "tags:", free)));
    const given = { calls: 3, per: "hour" };
    expect(json("/").services[0]).to.deep.include({ free: given }).and.not.to.have.property("sign_in");
    const { extensions, routes } = json("/.well-known/x402");
    expect(extensions).to.include("sign-in-with-x");
    expect(routes[0]).to.deep.include({ price_usd: "0.01", free_with_sign_in: given });
    expect(text("/llms.txt"))
      .to.include("0.01 USD, 3 calls an hour free for a wallet that signs in.")
      .and.include(HEADER)
      .and.not.include("## Free services");
    const { description, parameters } = json("/openapi.json").paths["/v1/toss"].post;
    expect(description).to.include(`(header ${HEADER}) gets 3 calls an hour free of charge.`);
    expect(parameters.map(({ name }: Loose) => name)).to.deep.equal([HEADER]);
  });

  it("is told in every document: a service for wallets only", async () => {
    const { json, text } = await showSet(ROOT);
    expect(json("/").services.find(({ id }: Loose) => id === "purchases")).to.include({
      price_usd: null,
      sign_in: true,
    });
    expect(json("/.well-known/x402").extensions).to.include("sign-in-with-x");
    expect(text("/llms.txt")).to.include("GET, free for a wallet that signs in.").and.include(HEADER);
    const { get } = json("/openapi.json").paths["/v1/purchases"];
    expect(get.description).to.include(`A wallet must sign in (header ${HEADER}).`);
    expect(get.parameters.map(({ name }: Loose) => name)).to.include(HEADER);
    expect(get.responses["402"].description).to.include("Nothing is to be paid.");
  });

  it("is not spoken of where there is nothing", async () => {
    const { json, text } = await showSet();
    expect(json("/.well-known/x402").extensions).not.to.include("sign-in-with-x");
    for (const path of ["/", "/llms.txt", "/openapi.json"])
      expect(text(path), path).not.to.match(/sign_in|SIGN-IN|free_/);
  });
});

describe("the MCP server card", () => {
  const card = (changes: object = {}, baseUrl = "https://pay.example.com"): Loose => {
    const site = { name: "payphone", title: "Payphone", description: "Sells calls.", version: "0.3.0", ...changes };
    return toServerCard({ site, baseUrl, endpoint: `${baseUrl}/mcp`, icon: `${baseUrl}/icon.png` });
  };

  it("is what the registry takes: a reverse-DNS name, a version, and where the endpoint is", () => {
    expect(card()).to.deep.include({
      name: "com.example.pay/payphone",
      version: "0.3.0",
      remotes: [{ type: "streamable-http", url: "https://pay.example.com/mcp" }],
    });
  });

  it("stays valid on a machine without a name", () => {
    for (const address of ["http://127.0.0.1:4021", "http://[::1]:4021"]) {
      expect(card({}, address).name).to.equal("localhost/payphone");
      expect(card({}, address)).not.to.have.property("icons");
    }
    expect(card({}, "http://localhost:4021").name).to.equal("localhost/payphone");
  });

  it("has a description of at most 100 characters, whole sentences if it can be", () => {
    const first = "Pay-per-call services for AI agents.";
    expect(card({ description: `${first} ${"No accounts, no keys. ".repeat(9)}` }).description).to.match(/keys\.$/);
    expect(card({ description: `${first} ${"and so on ".repeat(20)}` }).description).to.equal(first);
    const endless = card({ description: "and so on ".repeat(40) }).description;
    expect(endless).to.match(/ so…$|and…$|on…$/);
    for (const text of [first, endless]) expect(text.length).to.be.at.most(100);
    expect(card({ description: "x".repeat(450) }).description).to.have.length(100);
  });
});
