import { join } from "node:path";
import { expect } from "chai";
import { readConfig } from "../../../runtime/cli/config/config.ts";
import { locate } from "../../../runtime/cli/serve/locate.ts";
import { openSources, type Sources } from "../../../runtime/cli/serve/sources.ts";
import { loadSet, type ManifestSet } from "../../../runtime/cli/set/load.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";

const ENDPOINT = { LLM_BASE_URL: "http://127.0.0.1:9/v1", LLM_MODEL: "m" };

describe("the sources of services", () => {
  let set: ManifestSet;
  before(async () => {
    set = await loadSet(join(import.meta.dirname, "../../.."));
  });

  const open = (env: Record<string, string>, sold = set): Sources =>
    openSources({
      set: sold,
      config: readConfig(env),
      store: createMemoryStore(),
      clock: { now: Date.now },
      log: silentLog,
    });
  const explained = async (env: Record<string, string>): Promise<string[]> => {
    const sources = open(env);
    const ids = set.manifests.filter((manifest) => sources.explain(manifest) !== undefined).map(({ id }) => id);
    await sources.close();
    return ids;
  };

  it("are missed by the services that cannot do without a language model, and by no others", async () => {
    expect(await explained({})).to.deep.equal(["aura", "grade", "oracle", "roast", "tldr"]);
    expect(await explained(ENDPOINT)).to.deep.equal([]);
  });

  it("are down for what needs a language model while that is known not to answer", async () => {
    const sources = open(ENDPOINT);
    const { signal } = new AbortController();
    for (let times = 0; times < 5; times += 1)
      await sources.llm.answer({ service: "roast", instructions: "Roast.", data: "x", signal }).catch(() => {});
    const reasonOf = (id: string, isFirst?: true): string | undefined =>
      sources.explain(set.manifests.find((manifest) => manifest.id === id) ?? expect.fail(id), isFirst);
    const reasons = [reasonOf("oracle"), reasonOf("roast", true), reasonOf("roast"), reasonOf("anchor")];
    await sources.close();
    const silent = "The language model did not answer";
    expect(reasons).to.deep.equal([silent, silent, undefined, undefined]);
  });

  it("say which variable is not set where nothing says where they are", async () => {
    const sources = open({});
    const status = sources.upstreams.get("ethereum")?.status();
    await sources.close();
    expect(status).to.deep.equal({
      state: "down",
      reason: "Ethereum node needs ETHEREUM_RPC_URL, which is not set",
    });
  });

  it("are not missed where nothing says where they are and no service reads them", async () => {
    const mcp = { id: "tools", title: "Tools", mcp: "http" as const, variable: "TOOLS_URL" };
    const site = { ...set.site, upstreams: [...(set.site.upstreams ?? []), mcp] };
    const manifests = set.manifests.filter(({ upstreams = [] }) => !upstreams.includes("ethereum"));
    const namesOf = async (env: Record<string, string>): Promise<string[]> => {
      const { upstreams, mcpServers, close } = open(env, { ...set, site, manifests });
      await close();
      return [...upstreams.keys(), ...mcpServers.keys()].filter((id) => ["ethereum", "base", "tools"].includes(id));
    };
    expect(await namesOf({})).to.deep.equal(["base"]);
    const env = { ETHEREUM_RPC_URL: "http://127.0.0.1:9", TOOLS_URL: "http://127.0.0.1:9/mcp" };
    expect(await namesOf(env)).to.deep.equal(["base", "ethereum", "tools"]);
  });

  it("are where the environment says, with its credential, and else where the site says", () => {
    const source = {
      id: "prices",
      title: "Prices",
      url: "https://prices.example",
      variable: "PRICES_URL",
      key: { variable: "PRICES_KEY", header: "x-key" },
    };
    expect(locate(source, {})).to.deep.equal({ url: "https://prices.example", headers: {} });
    expect(locate(source, { PRICES_URL: "https://own.example/v1/", PRICES_KEY: "s3cret" })).to.deep.equal({
      url: "https://own.example/v1",
      headers: { "x-key": "s3cret" },
    });
    // What stands behind a "?" is all of it the operator's.
    for (const url of ["https://own.example/?key=a/b/", "https://own.example/v1/?to=https://prices.example/"])
      expect(locate(source, { PRICES_URL: url }).url).to.equal(url);
  });

  it("are sent a whole header of authorization, with its scheme, where the site says none", () => {
    const key = { variable: "MAIL_KEY", header: "authorization" };
    const source = { id: "mail", title: "Mail", url: "https://mail.example", key };
    const sent = (MAIL_KEY: string): object => locate(source, { MAIL_KEY }).headers;
    expect(sent("Bearer SG.s3cret")).to.deep.equal({ authorization: "Bearer SG.s3cret" });
    expect(sent("s3cret")).to.deep.equal({ authorization: "s3cret" });
    expect(() => sent("Bearer s3 cret")).to.throw("MAIL_KEY (not shown) must be a credential without spaces but");
  });

  it("are nowhere while the environment names no address, or no credential, instead of where the site says", () => {
    const source = { id: "prices", title: "Prices", url: "https://prices.example", variable: "PRICES_URL" };
    const key = { variable: "PRICES_KEY", header: "x-key" };
    const env = { PRICES_URL: "localhost:3000/s3cret", PRICES_KEY: "s3 cret" };
    expect(() => locate({ ...source, key }, env)).to.throw(
      "PRICES_KEY (not shown) must be a credential of printable characters without spaces\n" +
        "PRICES_URL (not shown) must be a web address that begins with https:// or http://",
    );
  });
});
