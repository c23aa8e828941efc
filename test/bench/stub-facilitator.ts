import type { PaymentPayload, SettleResponse, VerifyResponse } from "../../runtime/core/x402/x402.ts";
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

/** The transaction of every settlement, as the chain shows it, too. */
export const TRANSACTION = `0x${"ab".repeat(32)}`;

type Asked = Pick<PaymentPayload, "payload">;

/** Who has signed a payment. */
const payerOf = ({ payload }: Asked): string => (payload.authorization as { readonly from: string }).from; // All are EVM's.

export const verified = (payment: Asked): VerifyResponse => ({ isValid: true, payer: payerOf(payment) });

export const settled = (payment: Asked): SettleResponse => ({
  success: true,
  transaction: TRANSACTION,
  network: "eip155:8453",
  payer: payerOf(payment),
});
