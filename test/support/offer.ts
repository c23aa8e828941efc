import type { PaymentRequirements } from "../../runtime/core/x402/x402.ts";

/** An offer on an EVM rail, for tests in which neither token nor recipient matters. */
export const OFFER: PaymentRequirements = {
  scheme: "exact",
  network: "eip155:8453",
  asset: "0x1",
  amount: "1000",
  payTo: "0x2",
  maxTimeoutSeconds: 300,
  extra: {},
};
