import { createHash } from "node:crypto";
import { expect } from "chai";
import { type Hex, verifyMessage } from "viem";
import type { LedgerReportDeliverable } from "../../../schemas/generated/services.ts";
import { ROOT } from "../../core/set/served-directory.ts";
import { eventually } from "../../support/eventually.ts";
import { startLocalSandbox } from "../../support/sellers/local-seller.ts";
import type { SandboxServer } from "../../support/sellers/sandbox-server.ts";
import { askRpc, buyerFetch, json, type PayingFetch } from "../../support/sellers/stock-buyer.ts";
import { readManifest } from "../host.ts";

/** Everything here is checked with what a buyer has: public addresses, the chains' nodes and stock tools. */
describe("a report that was bought in the offline sandbox", () => {
  let server: SandboxServer;
  let pay: PayingFetch;
  let delivered: LedgerReportDeliverable;

  before(async () => {
    server = await startLocalSandbox(ROOT);
    pay = await buyerFetch(server);
    const [example] = readManifest("ledger_report").examples;
    const accepted = await pay(`${server.url}/v1/ledger/report`, json(example?.input));
    const { status_url } = (await accepted.json()) as { status_url: string };
    delivered = await untilDelivered(status_url);
  });
  after(() => server?.stop());

  async function untilDelivered(url: string): Promise<LedgerReportDeliverable> {
    const { deliverable } = await eventually(
      async () => (await (await fetch(url)).json()) as Record<string, unknown>,
      ({ status, error }) => {
        expect(status, String(error)).not.to.equal("FAILED");
        return status === "DELIVERED";
      },
    );
    return deliverable as LedgerReportDeliverable;
  }

  const sha256Of = async (url: string | null): Promise<string> =>
    createHash("sha256")
      .update(await (await fetch(url ?? "")).bytes())
      .digest("hex");

  it("has the hashes that it names", async () => {
    expect(await sha256Of(delivered.report_markdown_url)).to.equal(delivered.report_sha256);
    expect(await sha256Of(delivered.report_csv_url)).to.equal(delivered.csv_sha256);
  });

  it("is signed by the treasury over these hashes", async () => {
    const { signer, value, message } = delivered.signature;
    expect(message).to.include(`\nreport=${delivered.report_sha256}\ncsv=${delivered.csv_sha256}\n`);
    expect(await verifyMessage({ address: signer as Hex, message, signature: value as Hex })).to.equal(true);
  });

  it("stands on both chains", async () => {
    const { base_tx, solana_tx } = delivered.anchor;
    const onBase = await askRpc(server.description.rpc.base ?? "", "eth_getTransactionByHash", [base_tx]);
    expect(onBase.input).to.equal(`0x${delivered.report_sha256}`);
    const options = { encoding: "jsonParsed", maxSupportedTransactionVersion: 0 };
    const onSolana = await askRpc(server.description.rpc.solana ?? "", "getTransaction", [solana_tx, options]);
    expect(JSON.stringify(onSolana)).to.include(delivered.report_sha256);
  });

  it("comes with a page for browsers that may run nothing", async () => {
    const page = await fetch(delivered.report_html_url ?? "");
    expect(page.headers.get("content-security-policy")).to.include("default-src 'none'");
    expect(await page.text())
      .to.include("<svg ")
      .and.to.include("Prepared for Example Ltd");
  });

  it("is not sold, and nor is an investigation, while the treasury has no gas for its anchor", async () => {
    const node = server.description.rpc.base ?? "";
    const { buyer } = server.description;
    const treasury = delivered.signature.signer;
    const gas = await askRpc(node, "eth_getBalance", [treasury, "latest"]);
    await askRpc(node, "anvil_setBalance", [treasury, "0x0"]);
    const inputs = { "ledger/report": { wallet: buyer.evm.address }, investigate: { address: buyer.evm.address } };
    for (const [path, input] of Object.entries(inputs)) {
      const refused = await pay(`${server.url}/v1/${path}`, json(input));
      expect(refused.status, path).to.equal(503);
      expect(await refused.json()).to.have.property(
        "detail",
        "The treasury has too little ETH on Base to anchor; nothing was charged",
      );
    }
    await askRpc(node, "anvil_setBalance", [treasury, gas]);
  });

  it("is what its buyer's own account then shows, by the seller's name", async () => {
    const answer = await pay(`${server.url}/v1/ledger/summary`, json({ wallet: server.description.buyer.evm.address }));
    const { groups, totals } = (await answer.json()) as Record<"groups" | "totals", unknown> & { groups: object[] };
    expect(totals).to.deep.include({ usdc: "0.35", tx_count: 1, identified_pct: 100 });
    expect(groups[0]).to.deep.include({ label: "payphone", category: "x402" });
  });
});
