import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { parse } from "yaml";
import { examineConfig, readConfig } from "../../../runtime/cli/config/config.ts";
import type { Env } from "../../../runtime/cli/config/reader.ts";
import { missingForRails, missingForServe, railVariables } from "../../../runtime/cli/config/serve.ts";
import type { Manifest, SiteManifest } from "../../../runtime/core/set/manifest.ts";

const site = parse(readFileSync(join(import.meta.dirname, "../../../manifests/_site.yaml"), "utf8")) as SiteManifest;

const EVM_KEY = `0x${"5".repeat(64)}`;
const SOLANA_KEY = "3oufoLfFN2rT9z4rgJCa4JG7UqRNbFdEZVqkJ4fhEWxBMyQZhTqL9kwndkcLurvGqvcUd4PF2E3WRxzkNwHtSv7T";
const EVM_ADDRESS = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const SOLANA_ADDRESS = "4uQeVj5tqViQh7yWWGStvkEG1Zmhx6uasJtWCJziofM";
const WEB_URL = "a web address that begins with https:// or http://";
const CDP = { CDP_API_KEY_ID: "7a1b2c3d-0000", CDP_API_KEY_SECRET: "A".repeat(86) };

const ALL = new Set(["anchor", "treasury"]);

const LIVE: Env = {
  PUBLIC_BASE_URL: "https://pay.example.com",
  TREASURY_EVM_KEY: EVM_KEY,
  TREASURY_SOLANA_KEY: SOLANA_KEY,
  FACILITATOR_URL: "https://x402.example",
  BASE_PAYMENT_ADDRESS: EVM_ADDRESS,
  SOLANA_PAYMENT_ADDRESS: SOLANA_ADDRESS,
  POLYGON_PAYMENT_ADDRESS: EVM_ADDRESS.toLowerCase(),
  BASE_RPC_URL: "https://base.example/v2/key",
  SOLANA_RPC_URL: "https://solana.example/?key=x",
  POLYGON_RPC_URL: "http://polygon.internal:8545/",
};

const EVM_PAY_TO =
  "an EVM address (0x and 40 hex characters whose upper and lower case fit its checksum), not USDC's own and not the zero address";
const SOLANA_PAY_TO = "a Solana address (32 bytes in base58), not USDC's own and not the System Program";

const INCOMPLETE: readonly [env: Env, ...faults: string[]][] = [
  [{}],
  [{ FACILITATOR_URL: "", ...CDP }],
  [{ PUBLIC_BASE_URL: "http://127.0.0.1:4021" }],
  [
    { PUBLIC_BASE_URL: "http://pay.example.com" },
    'PUBLIC_BASE_URL is "http://pay.example.com", but must begin with https://: on plain http, payments can be read on the way',
  ],
  [
    { PUBLIC_BASE_URL: "http://127.example.com" },
    'PUBLIC_BASE_URL is "http://127.example.com", but must begin with https://: on plain http, payments can be read on the way',
  ],
  [
    { BASE_PAYMENT_ADDRESS: EVM_ADDRESS.replace("5aAeb", "5aaeb") },
    `BASE_PAYMENT_ADDRESS is "0x5aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed", but must be ${EVM_PAY_TO}`,
  ],
  [
    { BASE_PAYMENT_ADDRESS: "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913" },
    `BASE_PAYMENT_ADDRESS is "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", but must be ${EVM_PAY_TO}`,
  ],
  [
    { BASE_PAYMENT_ADDRESS: `0x${"0".repeat(40)}` },
    `BASE_PAYMENT_ADDRESS is "0x${"0".repeat(40)}", but must be ${EVM_PAY_TO}`,
  ],
  [{ BASE_PAYMENT_ADDRESS: EVM_KEY }, `BASE_PAYMENT_ADDRESS is "…", but must be ${EVM_PAY_TO}`],
  [{ SOLANA_PAYMENT_ADDRESS: EVM_ADDRESS }, `SOLANA_PAYMENT_ADDRESS is "${EVM_ADDRESS}", but must be ${SOLANA_PAY_TO}`],
  [
    { SOLANA_PAYMENT_ADDRESS: "1".repeat(32) },
    `SOLANA_PAYMENT_ADDRESS is "${"1".repeat(32)}", but must be ${SOLANA_PAY_TO}`,
  ],
  ...["EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", "1".repeat(31), "1".repeat(33)].map((address): [Env, string] => [
    { SOLANA_PAYMENT_ADDRESS: address },
    `SOLANA_PAYMENT_ADDRESS is "${address}", but must be ${SOLANA_PAY_TO}`,
  ]),
  [{ SOLANA_RPC_URL: "wss://solana.example/key" }, `SOLANA_RPC_URL (not shown) must be ${WEB_URL}`],
];

describe("what a live server needs", () => {
  it("is listed completely", () => {
    expect(missingForServe(readConfig({}), { site, manifests: [], capabilities: ALL })).to.deep.equal([
      "PUBLIC_BASE_URL is not set: the address that buyers use, like https://pay.example.com",
      "TREASURY_EVM_KEY (or TREASURY_EVM_KEY_FILE) is not set: with it the treasury signs results, anchors on Base, settles JPYC on Polygon and pays refunds",
      "TREASURY_SOLANA_KEY (or TREASURY_SOLANA_KEY_FILE) is not set: with it the treasury anchors on Solana",
      "FACILITATOR_URL is not set: the x402 facilitator, or set CDP_API_KEY_ID and CDP_API_KEY_SECRET for Coinbase's",
      "BASE_PAYMENT_ADDRESS is not set: the address that receives USDC on Base",
      "BASE_RPC_URL is not set: the RPC URL of eip155:8453",
      "SOLANA_PAYMENT_ADDRESS is not set: the address that receives USDC on Solana",
      "SOLANA_RPC_URL is not set: the RPC URL of solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
      "POLYGON_PAYMENT_ADDRESS is not set: the address that receives JPYC on Polygon",
      "POLYGON_RPC_URL is not set: the RPC URL of eip155:137",
    ]);
  });

  for (const [env, ...faults] of INCOMPLETE)
    it(`${faults.length ? "refuses" : "accepts"} a complete environment with ${JSON.stringify(env)}`, () =>
      expect(
        missingForServe(readConfig({ ...LIVE, ...env }), { site, manifests: [], capabilities: ALL }),
      ).to.deep.equal(faults));

  it("is missing where it is in a file that nothing reads", () => {
    for (const name of ["PUBLIC_BASE_URL", "FACILITATOR_URL", "BASE_PAYMENT_ADDRESS", "SOLANA_RPC_URL"]) {
      const { config, faults } = examineConfig({ ...LIVE, [name]: "", [`${name}_FILE`]: "/run/value" });
      const missing = missingForServe(config, { site, manifests: [], capabilities: ALL });
      const said = `${name}_FILE is set, but ${name} is not read from a file: set ${name} itself`;
      expect([...faults, ...missing], name).to.deep.equal([said]);
    }
  });

  it("asks nothing of rails that the site does not have", () => {
    const evmOnly = { ...site, rails: site.rails.filter(({ id }) => id === "polygon") };
    const { POLYGON_PAYMENT_ADDRESS, POLYGON_RPC_URL, PUBLIC_BASE_URL, TREASURY_EVM_KEY } = LIVE;
    const config = readConfig({ POLYGON_PAYMENT_ADDRESS, POLYGON_RPC_URL, PUBLIC_BASE_URL, TREASURY_EVM_KEY });
    expect(missingForServe(config, { site: evmOnly, manifests: [], capabilities: ALL })).to.deep.equal([]);
  });

  it("asks for no key with which refunds are paid, where only a rail of an earlier set is meant", () => {
    const earlier = { ...site, rails: site.rails.filter(({ id }) => id === "base") };
    expect(earlier).to.have.nested.property("refunds.rail", "base");
    expect(missingForRails(readConfig({ ...LIVE, TREASURY_EVM_KEY: "" }), earlier)).to.deep.equal([]);
  });

  describe("of the treasury's keys", () => {
    const KEYS = { TREASURY_EVM_KEY: "", TREASURY_SOLANA_KEY: "" };
    const on = (...ids: readonly string[]): SiteManifest => {
      const { refunds: _, ...rest } = site;
      return { ...rest, rails: site.rails.filter(({ id }) => ids.includes(id)) };
    };
    const missing = (sold: SiteManifest, ...capabilities: readonly string[]): string[] =>
      missingForServe(readConfig({ ...LIVE, ...KEYS }), {
        site: sold,
        manifests: [],
        capabilities: new Set(capabilities),
      }).map((line) => line.split(" ")[0] as string);

    it("is none where nothing is signed, anchored, settled or refunded", () => {
      expect(missing(on("base", "solana"), "clock", "web")).to.deep.equal([]);
    });

    it("is the EVM key alone on Base, also where plugins anchor", () => {
      expect(missing(on("base"), "treasury", "anchor")).to.deep.equal(["TREASURY_EVM_KEY"]);
    });

    it("is Solana's where plugins anchor on it, and not where it only receives", () => {
      expect(missing(on("base", "solana"), "anchor")).to.deep.equal(["TREASURY_EVM_KEY", "TREASURY_SOLANA_KEY"]);
      expect(missing(on("base", "solana"), "treasury")).to.deep.equal(["TREASURY_EVM_KEY"]);
    });

    it("is the EVM key for refunds and for yen", () => {
      expect(missing(on("polygon"))).to.deep.equal(["TREASURY_EVM_KEY"]);
      expect(missing({ ...on("base"), refunds: { rail: "base", screen: "x" } })).to.deep.equal(["TREASURY_EVM_KEY"]);
    });
  });

  it("does not call a malformed variable unset", () => {
    const { config, faults } = examineConfig({
      ...LIVE,
      TREASURY_EVM_KEY: "0x1",
      FACILITATOR_URL: "x",
      BASE_RPC_URL: "y",
    });
    expect(faults).to.have.length(2);
    expect(missingForServe(config, { site, manifests: [], capabilities: ALL })).to.deep.equal([
      `BASE_RPC_URL (not shown) must be ${WEB_URL}`,
    ]);
  });

  it("names the sources that somebody sells from and that have no address, and no others", () => {
    const manifests = [{ id: "names", upstreams: ["ethereum", "base", "coingecko"] }] as unknown as Manifest[];
    expect(missingForServe(readConfig(LIVE), { site, manifests, capabilities: ALL })).to.deep.equal([
      "ETHEREUM_RPC_URL is not set: the URL of Ethereum node, which is read by names",
    ]);
    const without = readConfig({ ...LIVE, ETHEREUM_RPC_URL: "http://127.0.0.1:8545", BASE_RPC_URL: "" });
    expect(missingForServe(without, { site, manifests, capabilities: ALL })).to.deep.equal([
      "BASE_RPC_URL is not set: the RPC URL of eip155:8453",
    ]);
    const wrong = readConfig({ ...LIVE, ETHEREUM_RPC_URL: "x", COINGECKO_URL: "y" });
    expect(missingForServe(wrong, { site, manifests, capabilities: ALL }).join()).to.match(
      /^ETHEREUM_RPC_URL .* must be .*COINGECKO_URL .* must be /,
    );
  });

  it("is no credential of a source that cannot be sent, and the credential is not shown", () => {
    const manifests = [{ id: "prices", upstreams: ["coingecko"] }] as unknown as Manifest[];
    const wrong = readConfig({ ...LIVE, COINGECKO_API_KEY: "CG-one two" });
    expect(missingForServe(wrong, { site, manifests, capabilities: ALL })).to.deep.equal([
      "COINGECKO_API_KEY (not shown) must be a credential of printable characters without spaces",
    ]);
    expect(missingForServe(wrong, { site, manifests: [], capabilities: ALL })).to.deep.equal([]);
  });

  it("is the secret of each webhook, and where it is sent unless the site says that", () => {
    const hook = { id: "books", variable: "HOOK_URL", secret: "HOOK_SECRET" };
    const known = { id: "known", url: "https://hook.example", variable: "KNOWN_URL", secret: "KNOWN_SECRET" };
    const sold = { ...site, webhooks: [hook, known] };
    expect(missingForServe(readConfig(LIVE), { site: sold, manifests: [], capabilities: ALL })).to.deep.equal([
      "HOOK_URL is not set: where the webhook books is sent",
      "HOOK_SECRET is not set: the secret that signs the webhook books",
      "KNOWN_SECRET is not set: the secret that signs the webhook known",
    ]);
    const secret = `whsec_${"A".repeat(32)}`;
    for (const HOOK_SECRET of [`${secret} ${secret} ${secret}`, `${secret} s3cret`]) {
      const set = readConfig({ ...LIVE, HOOK_URL: "http://hook.example", HOOK_SECRET, KNOWN_SECRET: secret });
      const wrong = missingForServe(set, { site: sold, manifests: [], capabilities: ALL });
      expect(wrong.map((line) => line.split(" must be ")[0])).to.deep.equal(
        ["HOOK_URL", "HOOK_SECRET"].map((name) => `${name} (not shown)`),
      );
    }
  });

  it("is what the facilitators of the rails need, and no others", () => {
    const second = { id: "second", variable: "SECOND_URL", headers: "SECOND_HEADERS" };
    const third = { id: "third", url: "https://third.example", variable: "THIRD_URL" };
    const unused = { id: "unused", variable: "UNUSED_URL", headers: "UNUSED_HEADERS" };
    const rails = site.rails.map((rail) => (rail.id === "base" ? { ...rail, facilitator: ["second", "third"] } : rail));
    const sold = { ...site, rails, facilitators: [second, third, unused] } as SiteManifest;
    const missing = (env: Env) =>
      missingForServe(readConfig({ ...LIVE, ...env }), { site: sold, manifests: [], capabilities: ALL });
    expect(missing({})).to.deep.equal([
      "SECOND_URL is not set: the URL of the facilitator second",
      "SECOND_HEADERS (or SECOND_HEADERS_FILE) is not set: the headers that the facilitator second asks for",
    ]);
    const wrong = missing({ SECOND_URL: "https://second.example", SECOND_HEADERS: "Bearer s3cret" });
    expect(wrong.join()).to.match(/^SECOND_HEADERS \(not shown\) must be headers: /);
  });

  it("is no address of a webhook that a quote has joined with the next variable", () => {
    const hook = { id: "books", variable: "HOOK_URL", secret: "HOOK_SECRET" };
    const HOOK_SECRET = `whsec_${"A".repeat(32)}`;
    const joined = readConfig({ ...LIVE, HOOK_SECRET, HOOK_URL: "https://hook.example/x\nLLM_API_KEY=s3cret" });
    const lines = missingForServe(joined, { site: { ...site, webhooks: [hook] }, manifests: [], capabilities: ALL });
    expect(lines.join()).to.match(/^HOOK_URL \(not shown\) must be a web address .*a quote that is not closed$/);
  });

  it("is named once where several rails share a variable", () => {
    const rails = site.rails.flatMap((rail) => (rail.id === "base" ? [rail, { ...rail, id: "base-2" }] : [rail]));
    const set = { site: { ...site, rails }, manifests: [], capabilities: ALL };
    expect(missingForServe(readConfig({ ...LIVE, BASE_RPC_URL: "" }), set)).to.deep.equal([
      "BASE_RPC_URL is not set: the RPC URL of eip155:8453",
    ]);
  });

  it("is given for each rail", () => {
    expect(site.rails.map((rail) => railVariables(readConfig(LIVE), rail))).to.deep.equal([
      { payTo: EVM_ADDRESS, rpc: "https://base.example/v2/key" },
      { payTo: SOLANA_ADDRESS, rpc: "https://solana.example/?key=x" },
      { payTo: EVM_ADDRESS.toLowerCase(), rpc: "http://polygon.internal:8545" },
    ]);
  });
});
