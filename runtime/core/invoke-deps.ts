import type { Clock, Log } from "../api/capabilities.ts";
import type { Jobs } from "./jobs/jobs.ts";
import type { Credits } from "./payments/credits.ts";
import type { Exposure } from "./payments/exposure.ts";
import type { Identifiers } from "./payments/identifiers.ts";
import type { Offers } from "./payments/offers.ts";
import type { Selling, VerifiedPurchase } from "./payments/purchase.ts";
import type { Reconciler } from "./payments/reconciler.ts";
import type { PaymentRecord } from "./payments/record.ts";
import type { Reservations } from "./payments/reservations.ts";
import type { Settler } from "./payments/settlement.ts";
import type { Standing } from "./payments/standing.ts";
import type { HouseRules } from "./rules/rules.ts";
import type { Service } from "./service.ts";
import type { Members } from "./wallets/members.ts";
import type { Proofs } from "./x402/proofs.ts";
import type { Rail } from "./x402/rails.ts";
import type { PaymentRequirements } from "./x402/x402.ts";

/** What `invoke` works with. */
export interface InvokeDeps {
  readonly rails: readonly Rail[];
  readonly members: Members;
  readonly offers: Offers;
  /** Signs receipts; left out: nobody does. */
  readonly proofs?: Pick<Proofs, "receipt"> | undefined;
  readonly jobs: Pick<Jobs, "reserve" | "begin">;
  readonly reservations: Reservations;
  readonly identifiers: Identifiers;
  /**
   * Takes a place on the payer's list, beside the record; what it gives puts the purchase there. That never rejects: the
   * payment itself fetches the answer as well.
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
  /** What the book says of a purchase's rail, worth and set. */
  readonly termsOf: (purchase: VerifiedPurchase) => Selling;
  /** Whether a success of the facilitator counts only once the chain shows it: decided by what is paid: US dollars, decimal text. */
  readonly mustConfirm: (usd: string) => boolean;
  /** @throws Problem `facilitator-unavailable` while none of the facilitators is believed that could settle an offer. */
  readonly checkTrust: (offer: PaymentRequirements) => void;
  /** @throws Problem `unavailable` when a service that is paid first is known to fail now. */
  readonly checkReady: (service: Service, buyer: string | undefined) => void;
  readonly verifyMs?: number;
  /** Told of settled calls that named an exchange, each time before they are answered. */
  readonly onSettled?: ((record: PaymentRecord) => Promise<void>) | undefined;
}
