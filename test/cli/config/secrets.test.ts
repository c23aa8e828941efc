import type { KeyObject } from "node:crypto";
import { expect } from "chai";
import { examineConfig, readConfig } from "../../../runtime/cli/config/config.ts";
import type { Env } from "../../../runtime/cli/config/reader.ts";
import { secretsOf } from "../../../runtime/cli/config/secrets.ts";
import type { SiteManifest } from "../../../runtime/core/set/manifest.ts";
import { createLog } from "../../../runtime/drivers/log.ts";
import { toKeyText } from "../../../runtime/drivers/peers/identity-keys.ts";

const site = {
  rails: [{ pay_to: "BASE_PAYMENT_ADDRESS", rpc: "BASE_RPC_URL" }],
  facilitators: [{ id: "second", url: "https://second.example", headers: "SECOND_HEADERS" }],
  webhooks: [{ id: "books", variable: "HOOK_URL", secret: "HOOK_SECRET" }],
} as unknown as SiteManifest;

/** What the log writes of a text. */
function logged(env: Env, text: string, needs: readonly string[] = []): string {
  let written = "";
  const log = createLog({ destination: { write: (line) => (written += line) } });
  log.conceal(secretsOf(readConfig(env), { site, manifests: [{ needs }] }));
  log.warn("a.failed", { error: new Error(text) });
  return (JSON.parse(written) as { error: { message: string } }).error.message;
}

describe("the secrets that the log leaves out", () => {
  const url = "https://base.example/v2/0123456789abcdefghij";

  for (const given of [url, `${url}/`, ` ${url}\n`, url.replace("base.example", "BASE.example:443")])
    it(`has the URL of a node, as it is asked and as it is given: ${JSON.stringify(given)}`, () => {
      expect(logged({ BASE_RPC_URL: given }, `POST ${url} failed`)).to.equal("POST [removed] failed");
      expect(logged({ BASE_RPC_URL: given }, `${given.trim()}: 500`)).to.match(/^\[removed\]\/?: 500$/);
    });

  it("has the credentials within a URL, which answers repeat without the rest", () => {
    for (const name of ["BASE_RPC_URL", "FACILITATOR_URL", "LLM_BASE_URL", "OTEL_EXPORTER_OTLP_ENDPOINT"]) {
      const env = { [name]: `${url}?key=s3cret-s3cret`, LLM_MODEL: name === "LLM_BASE_URL" ? "one" : "" };
      expect(logged(env, "no such path: /v2/0123456789abcdefghij")).to.equal("no such path: /v2/[removed]");
      expect(logged(env, "unknown key s3cret-s3cret")).to.equal("unknown key [removed]");
    }
    expect(logged({ BASE_RPC_URL: "https://me:hunter22@base.example" }, "hunter22")).to.equal("[removed]");
  });

  it("has each key, token and header of the configuration", () => {
    const [old, rotated] = ["A", "B"].map((letter) => `whsec_${letter.repeat(32)}`) as [string, string];
    const env = {
      TREASURY_EVM_KEY: `0x${"5".repeat(64)}`,
      BUYER_EVM_KEY: "6".repeat(64),
      CDP_API_KEY_ID: "7a1b2c3d-0000",
      CDP_API_KEY_SECRET: "A".repeat(86),
      A2A_IDENTITY_KEY: `${"11".repeat(32)}, ${"22".repeat(32)}`,
      ADMIN_TOKEN: "admin-".repeat(4),
      LLM_BASE_URL: "https://llm.example",
      LLM_MODEL: "one",
      LLM_API_KEY: "llm-s3cret",
      OTEL_EXPORTER_OTLP_ENDPOINT: "https://collector.example",
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20otlp-s3cret,x-team=ops",
      SECOND_HEADERS: "Authorization: Bearer second-s3cret",
      HOOK_URL: "https://hook.example/in",
      HOOK_SECRET: `${old} ${rotated}`,
    };
    const [, second] = readConfig(env).identityKeys ?? [];
    const stored = toKeyText(second as KeyObject);
    const { TREASURY_EVM_KEY, BUYER_EVM_KEY, CDP_API_KEY_SECRET, ADMIN_TOKEN, LLM_API_KEY, HOOK_URL } = env;
    const whole = [TREASURY_EVM_KEY, `0x${BUYER_EVM_KEY}`, CDP_API_KEY_SECRET, ADMIN_TOKEN, LLM_API_KEY, HOOK_URL];
    const parts = [
      env.OTEL_EXPORTER_OTLP_HEADERS,
      "22".repeat(32),
      stored,
      "otlp-s3cret",
      "second-s3cret",
      old,
      rotated,
    ];
    for (const secret of [...whole, ...parts]) expect(logged(env, `no ${secret}!`), secret).to.equal("no [removed]!");
    const { CDP_API_KEY_ID: _, ...others } = { ...env, CDP_API_KEY_SECRET: "" };
    const first = { ...others, FACILITATOR_HEADERS: "Authorization: Bearer first-s3cret" };
    expect(logged(first, "no first-s3cret!")).to.equal("no [removed]!");
  });

  it("has a credential also without the scheme that it was given with", () => {
    const said = "no such token: SG.s3cret-s3cret";
    expect(logged({ MAIL_TOKEN: "Bearer SG.s3cret-s3cret" }, said, ["MAIL_TOKEN"])).to.equal(
      "no such token: [removed]",
    );
  });

  it("has what plugins are given as keys and tokens", () => {
    const env = { WEATHER_API_KEY: "weather-1234", WEATHER_UNIT: "celsius-degrees" };
    const said = logged(env, "weather-1234 celsius-degrees", Object.keys(env));
    expect(said).to.equal("[removed] celsius-degrees");
    for (const name of ["DB_PWD", "GITHUB_PAT"])
      expect(logged({ [name]: "hunter22" }, "hunter22", [name]), name).to.equal("[removed]");
  });

  it("has the passwords within what plugins and programs are given, but no other words of it", () => {
    for (const [value, said, expected] of [
      ["postgres://me:s3cr%40t-word@db/shop", "me s3cr@t-word db/shop", "me [removed] db/shop"],
      ["postgres://postgres:postgres@db/shop", "postgres is up", "postgres is up"],
      ["postgres://postgres:postgres@db/shop", "at postgres://postgres:postgres@db/shop", "at [removed]"],
      ["redis://:hunter-22@cache:6379/0", "hunter-22 at cache:6379", "[removed] at cache:6379"],
      ["Server=db;User Id=me;Password=hunter-22;", "hunter-22 of db", "[removed] of db"],
      ["https://hooks.example/a?token=hunter-22&page=2", "hunter-22, page=2", "[removed], page=2"],
      ["/srv/public=data", "/srv/public=data", "/srv/public=data"],
      ["postgres://me:%zz-hunter@db", "%zz-hunter", "[removed]"],
    ] as const)
      expect(logged({ DATABASE_URL: value }, said, ["DATABASE_URL"]), value).to.equal(expected);
  });
});

describe("a variable that holds a name", () => {
  const names = ["LLM_MODEL", "LLM_FALLBACK_MODEL", "OTEL_SERVICE_NAME", "ANVIL_BIN"];

  it("has one line: the further ones may be secrets, and others would get them", () => {
    for (const name of names)
      expect(examineConfig({ LLM_BASE_URL: "", [name]: "one\nADMIN_TOKEN=hunter2" }).faults[0]).to.equal(
        `${name} is "one\\n…", but must be a text of one line; it has several lines, as behind a quote that is not closed`,
      );
  });

  it("is not read from a file, and says so", () => {
    for (const name of names)
      expect(examineConfig({ [`${name}_FILE`]: "/run/one" }).faults).to.deep.equal([
        `${name}_FILE is set, but ${name} is not read from a file: set ${name} itself`,
      ]);
  });
});
