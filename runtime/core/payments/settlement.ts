import type { Log } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { isEvm } from "../set/manifest.ts";
import { createDeadline, pause } from "../time/deadline.ts";
import { EVM_HASH } from "../transaction.ts";
import { hasRefused, isTroubled, tellsWhy } from "../x402/failed-settlement.ts";
import { type Rail, railOf } from "../x402/rails.ts";
import type { Stalls } from "../x402/stalls.ts";
import type { PaymentPayload, PaymentRequirements, SettleAnswer, SettleResponse } from "../x402/x402.ts";

/** How a settlement ended, as far as is known. */
export interface Settlement {
  /**
   * `rejected`: nothing has moved. `unknown`: the money may have moved, or may still move; never report it as unpaid.
   */
  readonly state: "settled" | "rejected" | "unknown";
  readonly receipt: SettleResponse;
  /**
   * Whether the chain itself has shown the state. Otherwise only the facilitator reports it, and it must be looked up.
   */
  readonly isFinal: boolean;
  /** The facilitator reports a transfer that the chain, which could be read, does not show. */
  readonly isClaimed?: boolean | undefined;
  /** The facilitator that reports the settlement, where the rail has several. */
  readonly by?: string | undefined;
  /** Whether the chain could be read. */
  readonly isReadable?: boolean;
}

export interface SettleOptions {
  /** Whether an earlier attempt may have succeeded. A refusal then proves nothing: that success may have caused it. */
  readonly isAgain?: boolean;
  /** Whether a success counts only once the chain shows it. */
  readonly mustConfirm: boolean;
}

export interface Settler {
  /** Asks the facilitator, and in every doubtful case the chain. Never throws. */
  settle(payment: PaymentPayload, offer: PaymentRequirements, options: SettleOptions): Promise<Settlement>;
  /** Asks the chain alone. Never throws. @param reported the transaction that a facilitator has named */
  look(payment: PaymentPayload, offer: PaymentRequirements, reported?: string): Promise<Settlement>;
  /** For answers that wait for the chain. @throws Problem `unavailable` when it cannot be read, before anything is charged. */
  checkChain(offer: PaymentRequirements): Promise<void>;
}

export interface SettlerDeps {
  readonly rails: readonly Rail[];
  readonly log: Log;
  /** Is told of settlements, and of payments that stay open. */
  readonly stalls?: Omit<Stalls, "warnings">;
  /** The timeout of one attempt at the facilitator; longer than the facilitator's own wait for a confirmation. */
  readonly settleMs?: number;
  /** How long the chain is polled for a settlement that the facilitator reports. */
  readonly confirmMs?: number;
}

/** How long the facilitator may be silent before the chain is asked. */
const SILENCE_MS = 5000;
/** The refusal of a payment that the chain rules out after an answer that left its outcome open. The code is x402's. */
const DEAD = {
  errorReason: "invalid_transaction_state",
  errorMessage: "The chain shows that this payment was not made; sign a new one",
};
const TRANSACTION = /^\w{1,128}$/;
/** Longer than a settlement takes at most: its attempt, its confirmation and a last look at the chain. */
export const SETTLE_LIFE_MS = 75_000;
const LONGEST_TEXT = 100;
const UNREADABLE = "The chain on which this payment must arrive cannot be read now; nothing was charged";
const QUIET_MS = 10_000;
/** The timeout of one look at a chain. */
const LOOK_MS = 10_000;
/** The pause between two looks for one payment. */
const LOOK_PAUSE_MS = 1000;

export function createSettler(deps: SettlerDeps): Settler {
  const { rails, log, stalls, settleMs = 40_000, confirmMs = 10_000 } = deps;
  const settleDeadline = createDeadline(settleMs);
  const lookDeadline = createDeadline(LOOK_MS);
  const confirmDeadline = createDeadline(confirmMs);
  const quietUntil = new Map<string, number>();

  return {
    async settle(payment, offer, { isAgain = false, mustConfirm }) {
      const answer = await ask(payment, offer, isAgain);
      if ("state" in answer) return answer;
      const { by, ...receipt } = answer;
      if (receipt.success && fits(receipt, offer)) {
        const settlement = mustConfirm ? await confirm(payment, offer, receipt) : settledOnWord(receipt);
        if (settlement.state === "settled") noteSettled(offer);
        return { ...settlement, by };
      }
      const { errorReason: reason, errorMessage: message, transaction } = receipt;
      if (!isAgain) log.warn("settlement.doubtful", { network: offer.network, reason, message, transaction });
      const seen = await look(payment, offer, receipt);
      if (isAgain && seen.state === "unknown" && seen.isReadable && isTroubled(receipt)) noteFailed(offer, receipt);
      const isRefused = !isAgain && seen.state === "unknown" && seen.isReadable && hasRefused(receipt);
      return isRefused ? { state: "rejected", receipt, isFinal: false } : seen;
    },
    look: (payment, offer, reported = "") =>
      look(payment, offer, { ...failure(offer, "settlement_unknown"), transaction: reported }),
    async checkChain(offer) {
      await railOf(rails, offer)
        ?.settlements.ping(lookDeadline())
        .catch((cause: unknown) => {
          complain(offer.network, cause);
          throw new Problem("unavailable", UNREADABLE, { cause, retryAfter: 5 });
        });
    },
  };

  /** The facilitator's answer; or the transfer on the chain, when that shows first while the facilitator is silent. */
  async function ask(
    payment: PaymentPayload,
    offer: PaymentRequirements,
    isAgain: boolean,
  ): Promise<SettleAnswer | Settlement> {
    const rail = railOf(rails, offer);
    if (!rail) return failure(offer, "rail_not_configured");
    const answer = rail.facilitator.settle(payment, offer, settleDeadline(), { isAgain }).then(
      (said) => ({ ...toReceipt(said), by: nameIn(rail, said.by) }),
      (error: unknown) => failure(offer, "settlement_unknown", error instanceof Error ? error.message : String(error)),
    );
    const seen = Promise.withResolvers<Settlement>();
    let answered: AbortController | undefined;
    const silence = setTimeout(() => {
      answered = new AbortController();
      seen.resolve(watchChain(payment, offer, answered.signal));
    }, SILENCE_MS).unref();
    try {
      return await Promise.race([answer, seen.promise]);
    } finally {
      clearTimeout(silence);
      answered?.abort();
    }
  }

  /** Resolves only when the chain shows the transfer. */
  async function watchChain(
    payment: PaymentPayload,
    offer: PaymentRequirements,
    signal: AbortSignal,
  ): Promise<Settlement> {
    do {
      const seen = await look(payment, offer, failure(offer, "settlement_unknown"));
      if (seen.state === "settled") return seen;
    } while (await pause(LOOK_PAUSE_MS, signal));
    return new Promise(() => {}); // The facilitator has answered.
  }

  /** Looks up on the chain a success that the facilitator reports. */
  async function confirm(
    payment: PaymentPayload,
    offer: PaymentRequirements,
    answer: SettleResponse,
  ): Promise<Settlement> {
    const givenUp = confirmDeadline();
    for (;;) {
      const seen = await look(payment, offer, answer);
      if (seen.state === "settled") return { ...seen, receipt: { ...answer, transaction: seen.receipt.transaction } };
      if (seen.state === "rejected" || !(await pause(LOOK_PAUSE_MS, givenUp)))
        return { ...seen, isClaimed: seen.isReadable };
    }
  }

  async function look(
    payment: PaymentPayload,
    offer: PaymentRequirements,
    answer: SettleResponse,
  ): Promise<Settlement> {
    const found = await railOf(rails, offer)
      ?.settlements.find(payment, offer, lookDeadline(), answer.transaction || undefined)
      .catch((error: unknown) => complain(offer.network, error));
    const isReadable = found !== undefined;
    if (found?.state === "settled") {
      noteSettled(offer);
      const payer = answer.payer !== undefined && { payer: answer.payer };
      const receipt = { success: true, transaction: found.transaction, network: offer.network, ...payer };
      return { state: "settled", receipt, isFinal: true, isReadable };
    }
    const receipt = { ...answer, success: false };
    if (found?.state === "dead") {
      const told = tellsWhy(answer) ? receipt : { ...receipt, ...DEAD };
      return { state: "rejected", receipt: told, isFinal: true, isReadable };
    }
    return { state: "unknown", receipt, isFinal: false, isReadable };
  }

  function noteSettled(offer: PaymentRequirements): void {
    const rail = railOf(rails, offer);
    if (rail) stalls?.settled(rail.manifest.id);
  }

  function noteFailed(offer: PaymentRequirements, { errorReason = "settlement_unknown" }: SettleResponse): void {
    const rail = railOf(rails, offer);
    if (rail) stalls?.failed(rail.manifest.id, errorReason);
  }

  /** Logs at most once per `QUIET_MS` and network: an outage of a node affects every open payment. */
  function complain(network: string, error: unknown): undefined {
    const now = performance.now();
    if (now < (quietUntil.get(network) ?? 0)) return;
    quietUntil.set(network, now + QUIET_MS);
    log.warn("settlement.unreadable", { network, error });
  }
}

const settledOnWord = (receipt: SettleResponse): Settlement => ({ state: "settled", receipt, isFinal: false });

/** The rail's name of the facilitator; names that the rail does not list are ignored. */
const nameIn = ({ facilitator }: Rail, name: string | undefined): string | undefined =>
  facilitator.members?.find((member) => member.name === name)?.name;

/** A success with another network, another amount or without a transaction proves nothing. */
const fits = (answer: SettleResponse, offer: PaymentRequirements): boolean =>
  answer.network === offer.network &&
  (isEvm(answer) ? EVM_HASH : TRANSACTION).test(answer.transaction) &&
  (answer.amount === undefined || answer.amount === offer.amount);

/** Keeps the fields that x402 defines, short enough for a header. Facilitators write null for "none". */
function toReceipt({ success, transaction, network, ...said }: SettleResponse): SettleResponse {
  const texts: { -readonly [name in (typeof TEXTS)[number]]?: string } = {};
  for (const name of TEXTS) if ((said[name] ?? "") !== "") texts[name] = toBrief(String(said[name]));
  const receipt = { success, ...texts, transaction: toBrief(transaction), network: toBrief(network) };
  return isEvm(receipt) ? { ...receipt, transaction: receipt.transaction.toLowerCase() } : receipt;
}

const TEXTS = ["errorReason", "errorMessage", "payer", "amount"] as const;

/** Shortens foreign text for headers and logs. */
export const toBrief = (text: string, longest = LONGEST_TEXT): string =>
  text.length > longest ? `${text.slice(0, longest)}…` : text;

const failure = (offer: PaymentRequirements, errorReason: string, errorMessage?: string): SettleResponse => ({
  success: false,
  errorReason,
  ...(errorMessage !== undefined && { errorMessage }),
  transaction: "",
  network: offer.network,
});
