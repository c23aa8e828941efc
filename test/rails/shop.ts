import { readFileSync } from "node:fs";
import { join } from "node:path";
import { wrapFetchWithPayment } from "@x402/fetch";
import { createPublicClient, erc20Abi, type Hex, http } from "viem";
import type { SandboxDescription } from "../../runtime/sandbox/open-sandbox.ts";
import { type Files, ROOT, TOSS } from "../core/set/served-directory.ts";
import { createBuyer, type PayingFetch } from "../support/sellers/stock-buyer.ts";

/** The YAML blocks of runtime/docs/rails.md by the word after the fence's language. */
export const BLOCKS: ReadonlyMap<string, string> = new Map(
  [...readFileSync(join(ROOT, "runtime/docs/rails.md"), "utf8").matchAll(/^```yaml (\S+)\n(.*?)^```$/gms)].map(
    ([, name = "", block = ""]) => [name, block] as const,
  ),
);

const SITE = TOSS["manifests/_site.yaml"] as string;
const RAILS = SITE.indexOf("rails:\n");
const SOLANA = SITE.indexOf("  - id: solana");
const LIMITS = SITE.indexOf("limits:");

/** The files of a shop with USDC on Base, further rails, and further keys of the site. */
export const toShop = (rails: readonly string[], keys: readonly string[] = []): Files => ({
  ...TOSS,
  "manifests/_site.yaml": [SITE.slice(0, SOLANA), ...rails, ...keys, SITE.slice(LIMITS)].join(""),
});

/** The same with no rails but these. */
export const toShopOf = (keys: string): Files => ({
  ...TOSS,
  "manifests/_site.yaml": SITE.slice(0, RAILS) + keys + SITE.slice(LIMITS),
});

/** The stock client with the sandbox's buyer, which pays with this token alone. */
export async function stockFetchOf(description: SandboxDescription, asset: string): Promise<PayingFetch> {
  const client = await createBuyer({ description });
  client.registerPolicy((_version, offers) => offers.filter((offer) => offer.asset === asset));
  return wrapFetchWithPayment(fetch, client.setSpendControls({ allowedAssets: true }));
}

/** What an account holds of a token, in atomic units. */
export const balanceOf = (rpc: string, asset: string, account: string): Promise<bigint> =>
  createPublicClient({ transport: http(rpc) }).readContract({
    address: asset as Hex,
    abi: erc20Abi,
    functionName: "balanceOf",
    args: [account as Hex],
  });
