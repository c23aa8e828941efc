import { expect } from "chai";
import { examineConfig } from "../../../runtime/cli/config/config.ts";
import { refuseFaults } from "../../../runtime/cli/serve/serve.ts";
import { loadSet } from "../../../runtime/cli/set/load.ts";
import type { ReadyReport } from "../../../runtime/server/routes/status.ts";
import { edit, type Files, makeDirectory, TOSS } from "../../core/set/served-directory.ts";
import { sharedSandbox } from "../../support/chains/chains.ts";
import { runPayphone } from "../../support/commands/commands.ts";
import { createFolder } from "../../support/folder.ts";
import { type LocalSeller, startLocalSeller } from "../../support/sellers/local-seller.ts";
import { makeProjectShop } from "../../support/sellers/project-shop.ts";
import { json, stockFetch } from "../../support/sellers/stock-buyer.ts";

/** `payphone serve` that does not start: its exit code, and the lines of its standard error. */
async function refuse(dir: string, env: Record<string, string>): Promise<{ code: number; lines: string[] }> {
  const data = createFolder();
  const { code, err } = await runPayphone(["serve", "--dir", dir], { PORT: "0", PAYPHONE_DATA_DIR: data, ...env });
  return { code, lines: err.trim().split("\n") };
}

const NOWHERE = "http://127.0.0.1:9";

/**
 * What `payphone serve` does with these overrides of the environment, in the tests' own process. @throws Problem when it
 * refuses.
 */
async function serve(dir: string, overrides: Record<string, string>): Promise<LocalSeller> {
  const sandbox = await sharedSandbox();
  const set = await loadSet(dir);
  const env = { ETHEREUM_RPC_URL: NOWHERE, ...overrides };
  const { config, faults } = examineConfig({ ...sandbox.env, PUBLIC_BASE_URL: NOWHERE, ...env });
  await refuseFaults(set, config, { malformed: faults });
  return startLocalSeller({ sandbox, set, env });
}

/** The set on Base alone, with a service that signs and anchors. */
function onBaseAlone(): Files {
  const site = TOSS["manifests/_site.yaml"] as string;
  const start = site.indexOf("  - id: solana");
  const rest = site.indexOf("yen_tiers:");
  return {
    ...TOSS,
    "manifests/_site.yaml": site.slice(0, start) + site.slice(rest),
    "manifests/toss.yaml": (TOSS["manifests/toss.yaml"] as string).replace("sides: [heads, tails]", "tx: '0x'"),
    "schemas/TossResponse.json": `{ "type": "object", "properties": { "tx": {}, "solana": {} }, "required": ["tx"] }`,
    "plugins/toss.ts": `import { definePlugin } from "#plugin";

export default definePlugin("toss", ({ anchor, treasury }) => ({
  async toss(_input, { signal }) {
    const [{ base, solana }] = await Promise.all([anchor.write("ab".repeat(32), signal), treasury.signMessage("toss")]);
    return { tx: base.tx, solana };
  },
}));
`,
  };
}

describe("a server", () => {
  it("names everything that is wrong in one round: set, plugins, and variables that are malformed or missing", async () => {
    const files = edit(
      edit(TOSS, "manifests/toss.yaml", 'price: "0.01"', "price: 0,01"),
      "plugins/toss.ts",
      "({ coins })",
      "{ coins }",
    );
    const { code, lines } = await refuse(await makeDirectory(files), {
      LOG_LEVEL: "loud",
      BASE_PAYMENT_ADDRESS: "0x1",
    });
    const text = lines.join("\n");
    expect(code).to.equal(2);
    for (const wrong of [
      /^manifests\/toss\.yaml:5:\d+ /m,
      /^plugins\/toss\.ts:5:\d+ /m,
      /LOG_LEVEL is "loud", but must be/,
      /BASE_PAYMENT_ADDRESS is "0x1", but must be/,
      /PUBLIC_BASE_URL is not set/,
      /FACILITATOR_URL is not set/,
      /SOLANA_RPC_URL is not set/,
      /TREASURY_EVM_KEY .* is not set: with it the treasury settles JPYC on Polygon$/m,
    ])
      expect(text).to.match(wrong);
    expect(text).not.to.match(/TREASURY_SOLANA_KEY/);
  });

  describe("of a shop on Base alone", () => {
    const ofBase = async (env: Record<string, string>): Promise<Record<string, string>> => {
      const {
        BASE_PAYMENT_ADDRESS = "",
        BASE_RPC_URL = "",
        TREASURY_EVM_KEY = "",
        FACILITATOR_URL = "",
      } = (await sharedSandbox()).env;
      const own = { BASE_PAYMENT_ADDRESS, BASE_RPC_URL, TREASURY_EVM_KEY, FACILITATOR_URL };
      return { ...own, PUBLIC_BASE_URL: "http://127.0.0.1:1", ...env };
    };

    it("asks for the treasury's EVM key, and for nothing of Solana", async () => {
      const dir = await makeDirectory(onBaseAlone());
      const { code, lines } = await refuse(dir, await ofBase({ TREASURY_EVM_KEY: "" }));
      expect(code).to.equal(2);
      expect(lines.slice(1)).to.deep.equal([
        "  TREASURY_EVM_KEY (or TREASURY_EVM_KEY_FILE) is not set: with it the treasury signs results and anchors on Base",
      ]);
    });

    it("sells, signs and anchors without any key of Solana", async () => {
      const dir = await makeDirectory(onBaseAlone());
      const env = { SOLANA_RPC_URL: "", SOLANA_PAYMENT_ADDRESS: "", TREASURY_SOLANA_KEY: "" };
      const seller = await serve(dir, env);
      const pay = await stockFetch(await sharedSandbox(), "base");
      const response = await pay(`${seller.url}/v1/toss`, json({})).finally(() => seller.stop());
      expect(response.status).to.equal(200);
      const { tx, solana } = (await response.json()) as { tx: string; solana: unknown };
      expect(tx).to.match(/^0x[0-9a-f]{64}$/);
      expect(solana).to.equal(null);
    });

    it("needs no key of the treasury when nothing is signed or anchored", async () => {
      const files = { ...TOSS, "manifests/_site.yaml": onBaseAlone()["manifests/_site.yaml"] as string };
      const env = { TREASURY_EVM_KEY: "", TREASURY_SOLANA_KEY: "" };
      const seller = await serve(await makeDirectory(files), env);
      const pay = await stockFetch(await sharedSandbox(), "base");
      const response = await pay(`${seller.url}/v1/toss`, json({})).finally(() => seller.stop());
      expect(response.status).to.equal(200);
    });
  });

  describe("of a shop on Base and Solana that sells screening alone", () => {
    it("asks for no key of the treasury, and sells without one", async () => {
      const env = { TREASURY_EVM_KEY: "", TREASURY_SOLANA_KEY: "" };
      // Its plugin could also anchor, where it is asked to investigate.
      const dir = await makeProjectShop({ services: ["screen"], rails: ["base", "solana"] });
      const seller = await serve(dir, env);
      const { services } = (await (await fetch(`${seller.url}/ready`)).json()) as ReadyReport;
      await seller.stop();
      expect(services).to.deep.equal([{ id: "screen", state: "up" }]);
    });
  });

  describe("whose plugin needs variables", () => {
    it("starts all the same, and its log names those that are not set", async () => {
      const dir = await makeDirectory(edit(TOSS, "manifests/toss.yaml", "tags:", "needs: [COIN, EDGE]\ntags:"));
      const seller = await serve(dir, { COIN: "euro", EDGE: " " });
      await seller.stop();
      const lines = seller.output().split("\n");
      const unset = lines.filter((line) => line.includes("plugin.variable-unset")).map((line) => JSON.parse(line));
      expect(unset).to.have.length(1);
      expect(unset[0]).to.include({ level: "warn", service: "toss", variable: "EDGE" });
    });
  });
});
