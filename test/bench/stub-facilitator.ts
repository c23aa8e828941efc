import { SITE } from "./shop.ts";

/** What a facilitator answers that finds every payment good, at once: the same for every contestant. */
export const SUPPORTED = {
  kinds: SITE.rails.map(({ network }) => ({
    x402Version: 2,
    scheme: "exact",
    network,
    ...(network.startsWith("solana:") && { extra: { feePayer: "2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4" } }),
  })),
  extensions: [],
  signers: {},
};

const PAYER = "0x1111111111111111111111111111111111111111";
export const VERIFIED = { isValid: true, payer: PAYER };
export const SETTLED = {
  success: true,
  transaction: `0x${"ab".repeat(32)}`,
  network: "eip155:8453" as const,
  payer: PAYER,
};
