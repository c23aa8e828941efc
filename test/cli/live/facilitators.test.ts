import { expect } from "chai";
import type { LiveFinding } from "../../../runtime/cli/live/probe.ts";
import { makeDirectory } from "../../core/set/served-directory.ts";
import { toShop } from "../../rails/shop.ts";
import { sharedSandbox } from "../../support/chains/chains.ts";
import { type Ran, runPayphone } from "../../support/commands/commands.ts";
import { eventually } from "../../support/eventually.ts";
import { createFolder } from "../../support/folder.ts";

const SOLANA = `  - id: solana
    title: USDC on Solana
    network: solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp
    asset: EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v
    symbol: USDC
    decimals: 8
    pay_to: SOLANA_PAYMENT_ADDRESS
    rpc: SOLANA_RPC_URL
    currency: usd
    explorer: https://solscan.io/tx/{tx}
`;

describe("serve --check of a shop with several facilitators", () => {
  it("warns of one that does not answer, and names a token on Solana that has other decimals", async () => {
    const { env } = await sharedSandbox();
    const data = createFolder();
    const keys =
      "facilitators:\n  - { id: first, variable: FIRST }\n  - { id: second, variable: SECOND, headers: KEYS }\n";
    const files = toShop([SOLANA], [keys]);
    const site = files["manifests/_site.yaml"]?.replace("    facilitator: remote\n", "") ?? "";
    const dir = await makeDirectory({ ...files, "manifests/_site.yaml": site });
    const { FACILITATOR_URL, ...rest } = env;
    const named = { FIRST: "http://127.0.0.1:9", SECOND: FACILITATOR_URL, PUBLIC_BASE_URL: "http://127.0.0.1:9" };
    const settings = { ...rest, ...named, PAYPHONE_DATA_DIR: data, PORT: "0" };
    const check = (more: Record<string, string>): Promise<Ran> =>
      runPayphone(["serve", "--check", "--json", "--dir", dir], { ...settings, ...more });
    const lacking = await check({});
    expect(lacking.code).to.equal(2);
    expect(lacking.out).to.include("KEYS (or KEYS_FILE) is not set: the headers that the facilitator second asks for");
    const whole = (): Promise<Ran> => check({ KEYS: '{"authorization":"Bearer a-secret-of-ours"}' });
    const toFindings = (ran: Ran): Map<string, LiveFinding> =>
      new Map((JSON.parse(ran.out) as LiveFinding[]).map((one) => [one.what, one]));
    const isAnswered = (ran: Ran): boolean => toFindings(ran).get("USDC on Base: facilitator")?.state === "ok";
    const { out, err } = await eventually(whole, isAnswered); // A busy machine may answer too late.
    const by = toFindings({ out } as Ran);
    expect(by.get("USDC on Base: facilitator first")?.state).to.equal("warning");
    expect(by.get("USDC on Base: facilitator second")?.state).to.equal("ok");
    expect(by.get("USDC on Solana: token")?.found).to.match(/has 6 decimals, but the configuration says 8$/);
    expect(out + err).not.to.include("a-secret-of-ours");
  });
});
