import type { PaymentPayload, PaymentRequirements } from "../../../runtime/core/x402/x402.ts";
import { OFFER as ANY_OFFER } from "../../support/offer.ts";

/** What a remote facilitator is asked about. */
export const OFFER: PaymentRequirements = {
  ...ANY_OFFER,
  asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
  payTo: "0x2222222222222222222222222222222222222222",
};
export const PAYMENT: PaymentPayload = { x402Version: 2, accepted: OFFER, payload: {} };
