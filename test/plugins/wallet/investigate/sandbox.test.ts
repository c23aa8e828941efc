import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { expect } from "chai";
import { type Hex, verifyMessage } from "viem";
import { eventually } from "../../../support/eventually.ts";
import type { SandboxServer } from "../../../support/sellers/sandbox-server.ts";
import { sharedSandboxServer } from "../../../support/sellers/shared-sandbox-server.ts";
import { askRpc, buyerFetch, json, type PayingFetch } from "../../../support/sellers/stock-buyer.ts";
import { readManifest } from "../../host.ts";
import type { Data } from "./stage.ts";

const sha256 = (data: Uint8Array | string): string => createHash("sha256").update(data).digest("hex");

interface Status {
  readonly status: string;
  readonly deliverable: Record<string, string> | null;
  readonly error: string | null;
}

describe("an investigation that is bought offline, end to end", () => {
  let server: SandboxServer;
  let pay: PayingFetch;
  before(async () => {
    server = await sharedSandboxServer();
    pay = await buyerFetch(server);
  });

  const readBytes = async (url = ""): Promise<Uint8Array> => new Uint8Array(await (await fetch(url)).arrayBuffer());

  const askNode = (rail: string, method: string, params: readonly unknown[]) =>
    askRpc(server.description.rpc[rail] ?? "", method, params);

  async function buy(input: unknown): Promise<Record<string, string>> {
    const response = await pay(`${server.url}/v1/investigate`, json(input));
    expect(response.status, await response.clone().text()).to.equal(200);
    const accepted = (await response.json()) as { status: string; status_url: string };
    expect(accepted.status).to.equal("accepted");
    const { deliverable } = await eventually(
      async () => (await (await fetch(accepted.status_url)).json()) as Status,
      ({ status, error }) => {
        expect(error).to.equal(null);
        return status === "DELIVERED";
      },
      200,
    );
    return deliverable ?? expect.fail("nothing was delivered");
  }

  for (const [at, { input }] of readManifest("investigate").examples.entries())
    it(`delivers example ${at + 1} with a signature and two anchors that anybody can check`, async () => {
      const delivered = await buy(input);
      const [report, file] = [await readBytes(delivered.reportUrl), await readBytes(delivered.reportJsonUrl)];
      const data = JSON.parse(Buffer.from(file).toString()) as Data;
      const [report_sha256, data_sha256] = [sha256(report), sha256(file)];
      const merkle_root = sha256(Buffer.from(report_sha256 + data_sha256, "hex"));
      expect(delivered.merkleRoot).to.equal(merkle_root);
      expect(data.missing, "every source is recorded").to.deep.equal([]);
      expect(data).to.include({ verdict: "low", score: 0, provisional: false });
      expect(data.coverage.filter(({ whole }) => !whole)).to.deep.equal([]);
      expect(data.narrative).to.match(/^Nothing stands out against this /);
      for (const { asset, received, sent } of data.movements.volumes) {
        const { base_eth, base_usdc, sol, solana_usdc } = data.balances;
        const held = { ETH: base_eth, SOL: sol, USDC: base_usdc ?? solana_usdc }[asset];
        expect(Number(received) - Number(sent), `${asset} that it holds, and fees`).to.be.closeTo(Number(held), 0.001);
      }

      const { domain, verdict, score, investigatedAt: investigated_at } = data;
      const said = { domain, address: data.subject.address, verdict, score, investigated_at };
      const message = canonicalize({ ...said, report_sha256, data_sha256, merkle_root }) ?? "";
      const [address, signature] = [delivered.signedBy as Hex, delivered.signature as Hex];
      expect(await verifyMessage({ address, message, signature })).to.equal(true);

      const onBase = await askNode("base", "eth_getTransactionByHash", [delivered.baseAnchorTx]);
      expect(onBase).to.include({ input: `0x${merkle_root}`, from: address.toLowerCase(), to: address.toLowerCase() });
      const options = { encoding: "json", maxSupportedTransactionVersion: 0 };
      const onSolana = await askNode("solana", "getTransaction", [delivered.solanaAnchorTx, options]);
      expect(JSON.stringify(onSolana)).to.include(merkle_root);
    });
});
