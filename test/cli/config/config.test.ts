import { resolve } from "node:path";
import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import { type Config, readConfig } from "../../../runtime/cli/config/config.ts";
import type { Env } from "../../../runtime/cli/config/reader.ts";

const EVM_KEY = `0x${"5".repeat(64)}`;
const SOLANA_KEY = "3oufoLfFN2rT9z4rgJCa4JG7UqRNbFdEZVqkJ4fhEWxBMyQZhTqL9kwndkcLurvGqvcUd4PF2E3WRxzkNwHtSv7T";
const SOLANA_BYTES =
  "[140,124,90,11,15,113,98,127,107,200,138,177,101,174,126,5,200,109,7,39,3,71,176,102,176,205,150,55,106,5,111,229,76,206,129,20,186,200,127,153,212,254,112,5,59,63,247,12,24,27,120,100,173,164,4,36,124,205,78,49,64,75,11,2]";
const FILES: Record<string, string> = {
  "/run/evm": `${EVM_KEY}\n`,
  "/run/empty": "\n",
  "/run/bad": "hunter2",
  "/run/headers": "Authorization: Bearer t0ken\nX-Team: a b\n",
};

function readFile(path: string): string {
  const content = FILES[path];
  if (content === undefined) throw Object.assign(new Error(path), { code: "ENOENT" });
  return content;
}

const configOf = (env: Env): Config => readConfig(env, readFile);

function faultsOf(env: Env): string[] {
  try {
    configOf(env);
  } catch (error) {
    expect(error).to.be.instanceOf(Problem).with.property("code", "bad-request");
    return (error as Problem).message.split("\n");
  }
  return [];
}

const PORT = "a whole number from 0 to 65535 (0 = any free port)";
/** What follows where a value has more than one line. */
const LINES = "; it has several lines, as behind a quote that is not closed";
const HOST = "an address or name to listen on, like 127.0.0.1, 0.0.0.0 or ::";
const BASE = "a web address like https://pay.example.com or https://example.com/paid (no query, password or escapes)";
const WEB_URL = "a web address that begins with https:// or http://";
const REDIS =
  "an address like redis://user:password@host:6379/0 (0 is the database; rediss:// for TLS; nothing after a ?; in a password, write %25 for %, %2F for /, %23 for #)";
const FOLDER = "a folder, without quotes around it, and with its path in the place of ~ or $HOME";
const OTLP = "headers like authorization=Bearer%20abc,x-team=ops";
const HEX_KEY = "an EVM private key: An EVM private key is 0x and 64 hex digits;";
const HEX_RANGE = "an EVM private key: This EVM private key is outside the range of secp256k1";
const BYTES_KEY = "a Solana key pair:";
const LEVEL = "one of trace, debug, info, warn, error, fatal, silent";
const LOGIN =
  "ADMIN_LOGIN_HEADER and ADMIN_LOGIN_FROM belong together: the header is trusted from the proxies that are named";
const PROXIES =
  "the number of proxies in front (1 to 9), or their addresses: a comma-separated list of IPs, CIDR ranges, loopback, linklocal or uniquelocal";
const HEADERS = 'headers: a JSON object like {"Authorization":"Bearer …"}, or lines like Authorization: Bearer …';
const CDP_SECRET = "the secret of a CDP API key: base64, or a PEM text";
const NO_KEY = "This is no key that can sign, neither 64 bytes in base64 nor the PEM text of an EC key";
const CDP = { CDP_API_KEY_ID: "7a1b2c3d-0000", CDP_API_KEY_SECRET: "A".repeat(86) };

const FAULTY: readonly [env: Env, ...faults: string[]][] = [
  [{ PORT: "80a" }, `PORT is "80a", but must be ${PORT}`],
  [{ PORT: "65536" }, `PORT is "65536", but must be ${PORT}`],
  [{ PORT: "4021\nADMIN_TOKEN=hunter2" }, `PORT is "4021\\n…", but must be ${PORT}${LINES}`],
  [{ PAYPHONE_DATA_DIR: "x\nA=hunter2" }, `PAYPHONE_DATA_DIR is "x\\n…", but must be ${FOLDER}${LINES}`],
  [{ FACILITATOR_URL: "https://a.example/x\nA=hunter2" }, `FACILITATOR_URL (not shown) must be ${WEB_URL}${LINES}`],
  [
    { PUBLIC_BASE_URL: `https://pay.example.com\nTREASURY_EVM_KEY=${EVM_KEY}` },
    `PUBLIC_BASE_URL is "https://pay.example.com\\n…", but must be ${BASE}${LINES}`,
  ],
  [{ PORT: "-1" }, `PORT is "-1", but must be ${PORT}`],
  [{ PORT: "8e3" }, `PORT is "8e3", but must be ${PORT}`],
  [{ HOST: "a b" }, `HOST is "a b", but must be ${HOST}`],
  [{ HOST: "127.0.0.256" }, `HOST is "127.0.0.256", but must be ${HOST}`],
  [{ HOST: "http://localhost" }, `HOST is "http://localhost", but must be ${HOST}`],
  [{ PUBLIC_BASE_URL: "pay.example.com" }, `PUBLIC_BASE_URL is "pay.example.com", but must be ${BASE}`],
  [{ PUBLIC_BASE_URL: "https://a.example//v1" }, `PUBLIC_BASE_URL is "https://a.example//v1", but must be ${BASE}`],
  [{ PUBLIC_BASE_URL: "https://a.example?x" }, `PUBLIC_BASE_URL is "https://a.example?x", but must be ${BASE}`],
  [{ PUBLIC_BASE_URL: "https://a.example/a%20b" }, `PUBLIC_BASE_URL is "https://a.example/a%20b", but must be ${BASE}`],
  [{ PUBLIC_BASE_URL: "ftp://a.example" }, `PUBLIC_BASE_URL is "ftp://a.example", but must be ${BASE}`],
  [{ PUBLIC_BASE_URL: "https://u:pw@a.example" }, `PUBLIC_BASE_URL is "https://…@a.example", but must be ${BASE}`],
  [{ PAYPHONE_URL: "localhost:4021" }, `PAYPHONE_URL is "localhost:4021", but must be ${BASE}`],
  [{ REDIS_URL: "http://u:pw@host" }, `REDIS_URL (not shown) must be ${REDIS}`],
  [{ REDIS_URL: "redis" }, `REDIS_URL (not shown) must be ${REDIS}`],
  [{ REDIS_URL: "redis:///0" }, `REDIS_URL (not shown) must be ${REDIS}`],
  [{ REDIS_URL: "redis://host:6379/payphone" }, `REDIS_URL (not shown) must be ${REDIS}`],
  [{ REDIS_URL: "redis://:50%off@host" }, `REDIS_URL (not shown) must be ${REDIS}`],
  [{ REDIS_URL: "redis://[::1]:6379/0/" }, `REDIS_URL (not shown) must be ${REDIS}`],
  [{ REDIS_URL: "redis://host:6379?db=3" }, `REDIS_URL (not shown) must be ${REDIS}`],
  [{ PAYPHONE_DATA_DIR: '"/var/lib/shop"' }, `PAYPHONE_DATA_DIR is "\\"/var/lib/shop\\"", but must be ${FOLDER}`],
  [{ PAYPHONE_DATA_DIR: "~/shop" }, `PAYPHONE_DATA_DIR is "~/shop", but must be ${FOLDER}`],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318" }, `OTEL_EXPORTER_OTLP_ENDPOINT (not shown) must be ${WEB_URL}`],
  [{ OTEL_EXPORTER_OTLP_HEADERS: "key=%" }, `OTEL_EXPORTER_OTLP_HEADERS (not shown) must be ${OTLP}`],
  [{ OTEL_EXPORTER_OTLP_HEADERS: "a b=c" }, `OTEL_EXPORTER_OTLP_HEADERS (not shown) must be ${OTLP}`],
  [{ OTEL_EXPORTER_OTLP_HEADERS: "key=s3cret%0A" }, `OTEL_EXPORTER_OTLP_HEADERS (not shown) must be ${OTLP}`],
  [{ LOG_LEVEL: "INFO" }, `LOG_LEVEL is "INFO", but must be ${LEVEL}`],
  [{ TRUST_PROXY: "true" }, `TRUST_PROXY is "true", but must be ${PROXIES}`],
  [{ TRUST_PROXY: "10.0.0.0/33" }, `TRUST_PROXY is "10.0.0.0/33", but must be ${PROXIES}`],
  [{ TRUST_PROXY: "0.0.0.0/0" }, `TRUST_PROXY is "0.0.0.0/0", but must be ${PROXIES}`],
  [{ TRUST_PROXY: "10.0.0.1,proxy" }, `TRUST_PROXY is "10.0.0.1,proxy", but must be ${PROXIES}`],
  [{ ADMIN_TOKEN: "hunter2".padEnd(23, "-") }, "ADMIN_TOKEN (not shown) must be at least 24 letters, digits, - or _"],
  [{ ADMIN_LOGIN_HEADER: "x-forwarded-user" }, LOGIN],
  [{ ADMIN_LOGIN_FROM: "10.0.0.5" }, LOGIN],
  [
    { ADMIN_LOGIN_HEADER: "Authorization", ADMIN_LOGIN_FROM: "10.0.0.5" },
    'ADMIN_LOGIN_HEADER is "Authorization", but must be the name of a header, like x-forwarded-user',
  ],
  ...["loopback", "0.0.0.0/0", "10.0.0.5,::/0"].map((from): [Env, string] => [
    { ADMIN_LOGIN_HEADER: "x-forwarded-user", ADMIN_LOGIN_FROM: from },
    `ADMIN_LOGIN_FROM is "${from}", but must be a comma-separated list of IP addresses and CIDR ranges, not /0, by which anybody could claim to be logged in`,
  ]),
  [{ TREASURY_EVM_KEY: "0x1234" }, `TREASURY_EVM_KEY (not shown) must be ${HEX_KEY} this is 0x and 4 digits`],
  [{ TREASURY_EVM_KEY: "0".repeat(64) }, `TREASURY_EVM_KEY (not shown) must be ${HEX_RANGE}`],
  [{ BUYER_EVM_KEY: "f".repeat(64) }, `BUYER_EVM_KEY (not shown) must be ${HEX_RANGE}`],
  [
    { TREASURY_SOLANA_KEY: "1".repeat(32) },
    `TREASURY_SOLANA_KEY (not shown) must be ${BYTES_KEY} A Solana key pair is 64 bytes; this is 32`,
  ],
  [
    { TREASURY_SOLANA_KEY: "1".repeat(64) },
    `TREASURY_SOLANA_KEY (not shown) must be ${BYTES_KEY} The two halves of this Solana key pair do not belong together`,
  ],
  [
    { TREASURY_SOLANA_KEY: "0OIl" },
    `TREASURY_SOLANA_KEY (not shown) must be ${BYTES_KEY} A Solana key pair is base58 text or a JSON array of 64 bytes; this is neither`,
  ],
  [
    { BUYER_SOLANA_KEY: "[1,2,3]" },
    `BUYER_SOLANA_KEY (not shown) must be ${BYTES_KEY} A Solana key pair is 64 bytes; this is 3`,
  ],
  [
    { BUYER_SOLANA_KEY: "[256]" },
    `BUYER_SOLANA_KEY (not shown) must be ${BYTES_KEY} A Solana key pair in JSON is an array of bytes, from 0 to 255`,
  ],
  [{ FACILITATOR_URL: "https://x402.example/#s3cret" }, `FACILITATOR_URL (not shown) must be ${WEB_URL}`],
  [{ FACILITATOR_URL: "x402.example/?key=s3cret" }, `FACILITATOR_URL (not shown) must be ${WEB_URL}`],
  [{ FACILITATOR_HEADERS: "Bearer s3cret" }, `FACILITATOR_HEADERS (not shown) must be ${HEADERS}`],
  [{ FACILITATOR_HEADERS: '{"Authorization":7}' }, `FACILITATOR_HEADERS (not shown) must be ${HEADERS}`],
  [{ FACILITATOR_HEADERS: '{"Authorization":"a\\nb"}' }, `FACILITATOR_HEADERS (not shown) must be ${HEADERS}`],
  [{ FACILITATOR_HEADERS: "{" }, `FACILITATOR_HEADERS (not shown) must be ${HEADERS}`],
  [{ ...CDP, CDP_API_KEY_SECRET: "" }, "CDP_API_KEY_ID is set without CDP_API_KEY_SECRET: set both or neither"],
  [{ ...CDP, CDP_API_KEY_ID: undefined }, "CDP_API_KEY_SECRET is set without CDP_API_KEY_ID: set both or neither"],
  [
    { CDP_API_KEY_ID: "a b", CDP_API_KEY_SECRET: "hunter2" },
    `CDP_API_KEY_ID is "a b", but must be the id of a CDP API key, like 7a1b2c3d-… or organizations/…/apiKeys/…`,
    `CDP_API_KEY_SECRET (not shown) must be ${CDP_SECRET}`,
  ],
  [{ ...CDP, CDP_API_KEY_SECRET: "A".repeat(64) }, `CDP_API_KEY_SECRET (not shown) must be ${CDP_SECRET}: ${NO_KEY}`],
  [
    { ...CDP, FACILITATOR_HEADERS: "A: b" },
    "FACILITATOR_HEADERS and CDP_API_KEY_ID are both set: keep one way to sign in",
  ],
  [
    { TREASURY_EVM_KEY: EVM_KEY, TREASURY_EVM_KEY_FILE: "/run/evm" },
    "TREASURY_EVM_KEY and TREASURY_EVM_KEY_FILE are both set: keep one of them",
  ],
  [{ TREASURY_EVM_KEY_FILE: "/run/none" }, 'TREASURY_EVM_KEY_FILE names "/run/none", which cannot be read (ENOENT)'],
  [{ TREASURY_EVM_KEY_FILE: "/run/empty" }, 'TREASURY_EVM_KEY_FILE names "/run/empty", which is empty'],
  [
    { TREASURY_EVM_KEY_FILE: "/run/bad" },
    `TREASURY_EVM_KEY_FILE names "/run/bad", whose content (not shown) must be ${HEX_KEY} this does not begin with 0x`,
  ],
  [{ LLM_BASE_URL: "https://llm.example/v1" }, "LLM_BASE_URL is set without LLM_MODEL: name the model to ask"],
  [{ LLM_MODEL: "m" }, "LLM_MODEL is set without LLM_BASE_URL: set the endpoint, like https://api.openai.com/v1"],
  [
    { PORT: "x", LOG_LEVEL: "y", BUYER_EVM_KEY: "z" },
    `PORT is "x", but must be ${PORT}`,
    `LOG_LEVEL is "y", but must be ${LEVEL}`,
    `BUYER_EVM_KEY (not shown) must be ${HEX_KEY} this does not begin with 0x`,
  ],
];

describe("the configuration", () => {
  for (const [env, ...faults] of FAULTY)
    it(`refuses ${JSON.stringify(env)}`, () => expect(faultsOf(env)).to.deep.equal(faults));

  it("shows no secret in any fault", () => {
    const all = FAULTY.flatMap(([env]) => faultsOf(env)).join("\n");
    expect(all).not.to.match(/hunter2|s3cret|pw@|0x1234|f{64}/);
  });

  it("has a default for everything that a sandbox needs", () => {
    const { env, ...config } = configOf({ PORT: " ", HOST: "", PATH: "/bin" });
    expect(env).to.deep.equal({ PATH: "/bin" });
    expect(config).to.deep.equal({
      port: 4021,
      host: "127.0.0.1",
      publicBaseUrl: undefined,
      dataDir: resolve(".payphone"),
      redisUrl: undefined,
      logLevel: "info",
      logFormat: undefined,
      trustProxy: 0,
      admin: { host: "127.0.0.1", port: undefined, token: undefined, login: undefined },
      anvilBin: undefined,
      treasury: { evmKey: undefined, solanaKey: undefined },
      facilitator: { url: undefined, headers: {}, cdp: undefined },
      llm: undefined,
      collector: undefined,
      identityKeys: undefined,
      buyer: { evmKey: undefined, solanaKey: undefined },
      sellerUrl: "http://127.0.0.1:4021",
    });
  });

  it("gives every value back in one form", () => {
    const config = configOf({
      PORT: "0",
      HOST: "::",
      PUBLIC_BASE_URL: "https://PAY.example.com:443/",
      PAYPHONE_DATA_DIR: "state",
      REDIS_URL: "rediss://user:pw@host:6379/1",
      TRUST_PROXY: "loopback, 10.0.0.0/8",
      TREASURY_EVM_KEY_FILE: "/run/evm",
      TREASURY_SOLANA_KEY: SOLANA_BYTES,
      FACILITATOR_URL: "https://x402.example/v2/",
      FACILITATOR_HEADERS_FILE: "/run/headers",
      BUYER_EVM_KEY: "A".repeat(64),
    });
    expect(config).to.deep.include({
      port: 0,
      host: "::",
      publicBaseUrl: "https://pay.example.com",
      dataDir: resolve("state"),
      redisUrl: "rediss://user:pw@host:6379/1",
      trustProxy: ["loopback", "10.0.0.0/8"],
      treasury: { evmKey: EVM_KEY, solanaKey: SOLANA_KEY },
      buyer: { evmKey: `0x${"A".repeat(64)}`, solanaKey: undefined },
    });
    expect(config.facilitator.url).to.equal("https://x402.example/v2");
    expect(config.facilitator.headers).to.deep.equal({ Authorization: "Bearer t0ken", "X-Team": "a b" });
  });

  it("reads the identity's keys, and never shows one that is wrong", () => {
    const [signing, kept] = configOf({ A2A_IDENTITY_KEY: `${"11".repeat(32)}, ${"22".repeat(32)}` }).identityKeys ?? [];
    expect(signing?.asymmetricKeyType).to.equal("ed25519");
    expect(kept?.asymmetricKeyType).to.equal("ed25519");
    const [fault = ""] = faultsOf({ A2A_IDENTITY_KEY: "c0ffee".repeat(3) });
    expect(fault).to.match(/^A2A_IDENTITY_KEY \(not shown\) must be Ed25519 private keys, separated by commas/);
    expect(fault).not.to.contain("c0ffee");
  });

  it("takes Coinbase's keys together", () => {
    expect(configOf(CDP).facilitator.cdp).to.deep.equal({
      keyId: CDP.CDP_API_KEY_ID,
      keySecret: CDP.CDP_API_KEY_SECRET,
    });
    expect(faultsOf({ CDP_API_KEY_ID: CDP.CDP_API_KEY_ID, CDP_API_KEY_SECRET_FILE: "/run/none" })).to.deep.equal([
      'CDP_API_KEY_SECRET_FILE names "/run/none", which cannot be read (ENOENT)',
    ]);
  });
});
