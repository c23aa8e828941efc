import type { Clock, Log } from "../../api/capabilities.ts";
import type { Corrector } from "./corrections.ts";
import type { PaymentRecord } from "./record.ts";
import type { Settlement } from "./settlement.ts";

/** A settlement that a facilitator has reported, compared with the chain. */
export interface JudgedClaim {
  /** Whether the chain shows that the payment has moved. */
  readonly isTrue: boolean;
  /** The reported transaction; when the claim is true, the transaction on the chain. */
  readonly transaction: string;
  /** Which facilitator has reported it, where a rail has several. */
  readonly by: string | undefined;
  /** Unix milliseconds. */
  readonly at: number;
}

/** A claim that is not judged yet, and when this process found that the chain lacks it. */
type Claim = Omit<JudgedClaim, "isTrue"> & { readonly since: number };

export interface Claims {
  /** Compares what a facilitator has reported with the chain. Resolves when a reversal is in the book. */
  judge(key: string, record: PaymentRecord, settlement: Settlement): Promise<void> | undefined;
  /** Forgets the claim about a payment that nobody looks for any more: a later report about it counts from its own time. */
  forget(key: string): void;
  /** When the claim about a payment was reported; the current time where there is none. Unix milliseconds. */
  sinceOf(key: string): number;
}

export interface ClaimsDeps {
  readonly reservations: { correctSale(...terms: Parameters<Corrector["correctSale"]>): Promise<unknown> };
  /** Called when the chain does not show a settlement that a facilitator has reported, and for each that it shows. */
  readonly onClaim: (key: string, record: PaymentRecord, judged: JudgedClaim) => void;
  readonly clock: Clock;
  readonly log: Log;
  /** The time after a reported settlement within which the chain must show it. */
  readonly claimMs: number;
}

/** How long a process itself waits: the report may be dated by another process, whose clock may be minutes behind. */
const OWN_WAIT_MS = 10_000;

/** The settlements that facilitators have reported and the chain does not show. */
export function createClaims({ reservations, onClaim, clock, log, claimMs }: ClaimsDeps): Claims {
  /** By payment. */
  const claims = new Map<string, Claim>();
  const isOverdue = ({ at, since }: Claim): boolean =>
    clock.now() - at >= claimMs && clock.now() - since >= Math.min(claimMs, OWN_WAIT_MS);

  return {
    judge(key, record, { state, isFinal, isClaimed, isReadable, receipt, by }) {
      const { settledAt, receipt: reported = receipt, reportedBy = by } = record;
      const made = { transaction: reported.transaction, by: reportedBy, at: settledAt ?? clock.now() };
      if (isClaimed && !claims.has(key)) claims.set(key, { ...made, since: clock.now() });
      const claim = claims.get(key);
      if (state === "settled" && isFinal) {
        claims.delete(key); // Another process may have made and judged the claim.
        onClaim(key, record, { ...made, transaction: receipt.transaction, isTrue: true });
      } else if (claim && (state === "rejected" || (isReadable && isOverdue(claim)))) {
        const { since: _, ...told } = claim;
        onClaim(key, record, { ...told, isTrue: false });
        // A failed entry is tried again by the next look.
        if (record.state === "settled")
          return reservations.correctSale(key, "reversal").then(
            () => {},
            (error: unknown) => log.error("books.doubt-not-entered", { error }),
          );
        if (state === "rejected" && isFinal) claims.delete(key);
      }
      return undefined;
    },
    forget: (key) => void claims.delete(key),
    sinceOf: (key) => claims.get(key)?.at ?? clock.now(),
  };
}
