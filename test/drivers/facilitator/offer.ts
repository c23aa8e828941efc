import type { PaymentPayload, PaymentRequirements } from "../../../runtime/core/x402/x402.ts";

/** What a remote facilitator is asked about. */
export const OFFER: PaymentRequirements = {
  scheme: "exact",
  network: "eip155:8453",
  asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
  amount: "1000",
  payTo: "0x2222222222222222222222222222222222222222",
  maxTimeoutSeconds: 300,
  extra: {},
};
export const PAYMENT: PaymentPayload = { x402Version: 2, accepted: OFFER, payload: {} };
