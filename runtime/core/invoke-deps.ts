import type { Clock, Log } from "../api/capabilities.ts";
import type { Jobs } from "./jobs/jobs.ts";
import type { Credits } from "./payments/credits.ts";
import type { Exposure } from "./payments/exposure.ts";
import type { Identifiers } from "./payments/identifiers/identifiers.ts";
import type { Offers } from "./payments/offers/offers.ts";
import type { Purchase, Selling, VerifiedPurchase } from "./payments/purchase.ts";
import type { Reconciler } from "./payments/reconciler.ts";
import type { PaymentRecord } from "./payments/record.ts";
import type { Reservations } from "./payments/reservations.ts";
import type { HasSold, SellerOf } from "./payments/seller-of.ts";
import type { Settler } from "./payments/settlement.ts";
import type { Standing } from "./payments/standing.ts";
import type { HouseRules } from "./rules/rules.ts";
import type { Members } from "./wallets/members.ts";
import type { Proofs } from "./x402/proofs.ts";
import type { Rail } from "./x402/rails.ts";
import type { PaymentRequirements } from "./x402/x402.ts";

/** The dependencies of `invoke`. */
export interface InvokeDeps {
  readonly rails: readonly Rail[];
  readonly members: Members;
  readonly offers: Offers;
  /** Signs receipts; when omitted, receipts are not signed. */
  readonly proofs?: Pick<Proofs, "receipt"> | undefined;
  readonly jobs: Pick<Jobs, "reserve" | "begin">;
  readonly reservations: Reservations;
  readonly sellerOf: SellerOf;
  readonly hasSold: HasSold;
  readonly identifiers: Identifiers;
  /**
   * Reserves a place in the payer's list of purchases while the payment is recorded; the returned function writes the
   * purchase there and never rejects, since the answer can also be fetched by repeating the payment.
   */
  readonly placeBought: (purchase: VerifiedPurchase) => () => Promise<void>;
  readonly settler: Settler;
  readonly reconciler: Reconciler;
  readonly credits: Credits;
  readonly exposure: Exposure;
  readonly rules: Pick<HouseRules, "during">;
  readonly standing: Standing;
  readonly clock: Clock;
  readonly log: Log;
  /** The rail, value and set of a purchase, for the book. */
  readonly termsOf: (purchase: VerifiedPurchase) => Selling;
  /**
   * Whether a facilitator's success counts only once the chain shows it. @param usd the price: US dollars, decimal text
   */
  readonly mustConfirm: (usd: string) => boolean;
  /** @throws Problem `facilitator-unavailable` when no facilitator that could settle the offer is trusted. */
  readonly checkTrust: (offer: PaymentRequirements) => void;
  /** @throws Problem `unavailable` when work that is paid first cannot be done now; and what its `ready` throws. */
  readonly checkReady: (purchase: Purchase, payer: string | undefined) => Promise<void>;
  /** Called with settled calls that named an exchange, before each answer. */
  readonly onSettled?: ((record: PaymentRecord) => Promise<void>) | undefined;
}
