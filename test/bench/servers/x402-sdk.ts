import type { FacilitatorClient } from "@x402/core/server";
import { HTTPFacilitatorClient, x402ResourceServer } from "@x402/core/server";
import { ExactEvmScheme } from "@x402/evm/exact/server";
import { bazaarResourceServerExtension } from "@x402/extensions/bazaar";
import { ExactSvmScheme } from "@x402/svm/exact/server";
import { PAY_TO, PRICE, SITE } from "../shop.ts";
import { SUPPORTED, settled, verified } from "../stub-facilitator.ts";

const [base, solana] = SITE.rails.map(({ network }) => network) as ["eip155:8453", `solana:${string}`];

/** The shop's offers, as the stock x402 SDK has them. */
export const ACCEPTS = [
  { scheme: "exact", network: base, payTo: PAY_TO.evm, price: `$${PRICE}`, maxTimeoutSeconds: 300 },
  { scheme: "exact", network: solana, payTo: PAY_TO.solana, price: `$${PRICE}`, maxTimeoutSeconds: 300 },
];

/** The stock x402 SDK on the shop's rails, with a facilitator at a URL, or with the stub in the process. */
export function createResources(url?: string): x402ResourceServer {
  const stub = {
    verify: async (payment: Parameters<typeof verified>[0]) => verified(payment),
    settle: async (payment: Parameters<typeof settled>[0]) => settled(payment),
    getSupported: async () => SUPPORTED,
  } as unknown as FacilitatorClient;
  return new x402ResourceServer(url ? new HTTPFacilitatorClient({ url }) : stub)
    .register(base, new ExactEvmScheme())
    .register(solana, new ExactSvmScheme())
    .registerExtension(bazaarResourceServerExtension);
}
