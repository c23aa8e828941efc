import type { Log } from "../../api/capabilities.ts";
import { createDeadline } from "../deadline.ts";
import type { Rail } from "../x402/rails.ts";
import type { PaymentPayload, PaymentRequirements, SettlementState, SettleResponse } from "../x402/x402.ts";

/** How a settlement ended, as far as anybody can know. */
export type Settlement =
  | { readonly state: "settled"; readonly receipt: SettleResponse }
  /** Nothing has moved, and whoever settles has refused. */
  | { readonly state: "rejected"; readonly receipt: SettleResponse }
  /** The money may have moved, or may still. Never to be called "unpaid". */
  | { readonly state: "unknown"; readonly receipt: SettleResponse };

export interface Settler {
  /**
   * Asks the facilitator, and in every doubtful case the chain itself. Never throws. While an earlier attempt may have
   * succeeded, a refusal proves nothing: it may be the consequence of that.
   */
  settle(payment: PaymentPayload, offer: PaymentRequirements, attempt?: "first" | "another"): Promise<Settlement>;
  /** Asks the chain alone. Never throws. */
  look(payment: PaymentPayload, offer: PaymentRequirements): Promise<Settlement>;
}

export interface SettlerDeps {
  readonly rails: readonly Rail[];
  readonly log: Log;
  /** Bounds one attempt at the facilitator; longer than its own wait for a confirmation. */
  readonly settleMs?: number;
}

/**
 * Reasons that mean "refused before anything was sent", as long as the chain agrees that nothing has moved: codes, and
 * what a token says when it is asked beforehand. Other sentences are about the facilitator's own troubles.
 */
const REFUSED =
  /^\w*(?:insufficient|balance|invalid|mismatch|simulation|unsupported|blacklist|paused)\w*$|\breverted\b/i;
/** … unless it is because the money has moved, which our node may not know yet. */
const SPENT = /used|already|duplicate/i;
const TRANSACTION = /^\w{1,128}$/;
const LONGEST_TEXT = 300;
const QUIET_MS = 10_000;
/** How long a chain may take to be read. */
const LOOK_MS = 10_000;

export function createSettler({ rails, log, settleMs = 40_000 }: SettlerDeps): Settler {
  const settleDeadline = createDeadline(settleMs);
  const quietUntil = new Map<string, number>();
  const railOf = (offer: PaymentRequirements): Rail | undefined =>
    rails.find(({ manifest }) => manifest.network === offer.network);

  return {
    async settle(payment, offer, attempt = "first") {
      const answer = await ask(payment, offer);
      if (answer.success && fits(answer, offer)) return { state: "settled", receipt: answer };
      const { errorReason: reason, transaction } = answer;
      if (attempt === "first") log.warn("settlement.doubtful", { network: offer.network, reason, transaction });
      const seen = await look(payment, offer, answer);
      const isRefused = attempt === "first" && seen.state === "unknown" && seen.chain === "open" && isRefusal(answer);
      return isRefused ? { state: "rejected", receipt: answer } : seen;
    },
    look: (payment, offer) => look(payment, offer, failure(offer, "settlement_unknown")),
  };

  async function ask(payment: PaymentPayload, offer: PaymentRequirements): Promise<SettleResponse> {
    const rail = railOf(offer);
    if (!rail) return failure(offer, "rail_not_configured");
    try {
      return toReceipt(await rail.facilitator.settle(payment, offer, settleDeadline()));
    } catch (error) {
      return failure(offer, "settlement_unknown", error instanceof Error ? error.message : String(error));
    }
  }

  async function look(
    payment: PaymentPayload,
    offer: PaymentRequirements,
    answer: SettleResponse,
  ): Promise<Settlement & { chain?: SettlementState["state"] }> {
    const found = await railOf(offer)
      ?.settlements.find(payment, offer, AbortSignal.timeout(LOOK_MS))
      .catch((error: unknown) => complain(offer.network, error));
    if (found?.state === "settled") {
      const payer = answer.payer !== undefined && { payer: answer.payer };
      return {
        state: "settled",
        receipt: { success: true, transaction: found.transaction, network: offer.network, ...payer },
      };
    }
    const receipt = { ...answer, success: false };
    if (found?.state === "dead") return { state: "rejected", receipt };
    return { state: "unknown", receipt, ...(found && { chain: found.state }) };
  }

  /** An outage of a node meets every payment that is open, again and again: it is told once in a while. */
  function complain(network: string, error: unknown): undefined {
    const now = performance.now();
    if (now < (quietUntil.get(network) ?? 0)) return;
    quietUntil.set(network, now + QUIET_MS);
    log.warn("settlement.unreadable", { network, error });
  }
}

/** A success that names another network, no transaction, or another amount is no proof of anything. */
const fits = (answer: SettleResponse, offer: PaymentRequirements): boolean =>
  answer.network === offer.network &&
  TRANSACTION.test(answer.transaction) &&
  (answer.amount === undefined || answer.amount === offer.amount);

const isRefusal = ({ success, transaction, errorReason = "" }: SettleResponse): boolean =>
  !success && transaction === "" && REFUSED.test(errorReason) && !SPENT.test(errorReason);

/** What x402 knows of an answer, and no more of it than a header can hold. Facilitators write null for "none". */
function toReceipt({ success, transaction, network, ...texts }: SettleResponse): SettleResponse {
  const { errorReason, errorMessage, payer, amount } = texts;
  const known = Object.entries({ errorReason, errorMessage, payer, amount }).filter(([, text]) => (text ?? "") !== "");
  const brief = Object.fromEntries(known.map(([name, text]) => [name, toBrief(String(text))]));
  return { success, ...brief, transaction: toBrief(transaction), network: toBrief(network) };
}

/** A text of somebody else's, short enough for headers and logs. */
export const toBrief = (text: string): string =>
  text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text;

const failure = (offer: PaymentRequirements, errorReason: string, errorMessage?: string): SettleResponse => ({
  success: false,
  errorReason,
  ...(errorMessage !== undefined && { errorMessage }),
  transaction: "",
  network: offer.network,
});
