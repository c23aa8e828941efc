import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { base58 } from "@scure/base";
import { Keypair } from "@solana/web3.js";
import { expect } from "chai";
import type { CallOptions } from "../../../runtime/cli/call/call.ts";
import { createFolder } from "../../support/folder.ts";
import { runRefused } from "./run.ts";
import { type Seller, startSeller, USDC_OFFER } from "./seller.ts";

/** A file of rails, and the text of payphone's own. */
async function openRails(): Promise<{ directory: string; file: string; own: string }> {
  const directory = createFolder();
  await mkdir(join(directory, "manifests"));
  const own = await readFile(join(import.meta.dirname, "../../../manifests/_site.yaml"), "utf8");
  return { directory, file: join(directory, "manifests/_site.yaml"), own };
}

describe("payphone call, by a file of rails that will not do, refuses", () => {
  let seller: Seller;
  beforeEach(async () => {
    seller = await startSeller();
  });
  afterEach(() => seller.stop());

  const refusal = (code: number, options: Partial<CallOptions>): Promise<string> => runRefused(seller, code, options);

  it("to go by rails that it cannot read", async () => {
    expect(await refusal(2, { dir: "/nowhere" })).to.match(
      /^payphone: cannot read the rails in .+_site\.yaml \(ENOENT/,
    );
  });

  it("to go by rails that call a known token's units something else, or lack what is shown of a payment", async () => {
    const { directory, file, own } = await openRails();
    const recased = own.replace(USDC_OFFER.asset, (asset) => asset.toLowerCase());
    await writeFile(file, recased.replace("decimals: 6", "decimals: 18"));
    seller.script.offers = [{ ...USDC_OFFER, amount: "900000000000" }];
    expect(await refusal(2, { dir: directory })).to.equal(
      `payphone: ${file}: decimals of rail base is 18, and USDC on Base has 6`,
    );
    await writeFile(file, own.replace("currency: usd", "currency: jpy"));
    expect(await refusal(2, { dir: directory })).to.equal(
      `payphone: ${file}: currency of rail base is jpy, and USDC on Base has usd`,
    );
    await writeFile(file, own.replace(/\n +explorer:.*/, ""));
    expect(await refusal(2, { dir: directory })).to.equal(`payphone: ${file}: rail base has no explorer`);
  });

  it("to count a dollar token of the x402 SDK's list in other units, which no limit would bound", async () => {
    const { directory, file, own } = await openRails();
    const asset = "0xaf88d065e77c8cC2239327C5EDb3A432268e5831"; // USDC on Arbitrum
    const rail = {
      id: "a",
      title: "A",
      network: "eip155:42161",
      asset,
      symbol: "A",
      explorer: "https://a.example/{tx}",
    };
    seller.script.offers = [{ ...USDC_OFFER, network: "eip155:42161", asset, amount: "900000000000" }];
    for (const units of [
      { currency: "usd", decimals: 18 },
      { currency: "jpy", decimals: 10 },
    ]) {
      await writeFile(file, own.replace(/^rails:\n/m, `rails:\n  - ${JSON.stringify({ ...rail, ...units })}\n`));
      expect(await refusal(3, { dir: directory })).to.equal(
        `payphone: rail a counts ${units.currency} with ${units.decimals} decimals, and its token USDC counts usd with 6: correct the rail, since no limit holds otherwise. Nothing was paid.`,
      );
    }
  });

  it("to pay on a network of the kind of Solana that the x402 SDK does not know", async () => {
    const { directory, file, own } = await openRails();
    const network = `solana:${"1".repeat(32)}`;
    await writeFile(file, own.replace("solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", network));
    const asset = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
    seller.script.offers = [{ ...USDC_OFFER, network, asset }];
    const env = { BUYER_SOLANA_KEY: base58.encode(Keypair.generate().secretKey) };
    expect(await runRefused(seller, 1, { dir: directory, sandbox: false }, env)).to.match(
      /^payphone: the payment could not be signed: Unsupported SVM network: solana:1+ .+ Nothing was paid\.$/,
    );
  });
});
