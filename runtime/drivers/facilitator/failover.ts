import type { Log } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { createDeadline, pause } from "../../core/time/deadline.ts";
import { hasForeignFeePayer, isTroubled } from "../../core/x402/failed-settlement.ts";
import type {
  Facilitator,
  PaymentPayload,
  PaymentRequirements,
  SettleAnswer,
  SettlementReader,
  SettleResponse,
  VerifyResponse,
} from "../../core/x402/x402.ts";
import type { FacilitatorMember } from "./member.ts";

export interface FailoverOptions {
  /** In the order of preference. */
  readonly members: readonly FacilitatorMember[];
  readonly settlements: Pick<SettlementReader, "find">;
  readonly log: Log;
  /** Whether a facilitator is trusted on a network. */
  readonly isTrusted: (name: string, network: string) => boolean;
  /** The timeout of a facilitator while another one is up, for a verification and for a settlement. */
  readonly verifyMs?: number;
  readonly settleMs?: number;
  /** How long the chain is asked for a payment that one facilitator may have sent and another one refuses. */
  readonly lookMs?: number;
}

const LOOK_PAUSE_MS = 500;
const ONE_LOOK_MS = 3000;
const LONGEST_REASON = 240;

/**
 * What x402's library says of good payments while the facilitator's own node does not answer: a second facilitator, where
 * there is one, is asked for its opinion.
 */
const MAY_BE_OUTAGE = /signature|simulation_failed/;

/** Codes of Node and undici for errors before anything was sent. After any other error the request may have arrived. */
const UNSENT = /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/;

/**
 * Several facilitators as one. When one does not answer, the next one is asked. For a settlement, once a request may
 * have arrived, the chain is looked at before the next facilitator is asked, whose refusal then proves nothing: it may
 * be caused by the first facilitator's transaction. An authorization can be used only once, whoever sends it.
 */
export function createFailover(options: FailoverOptions): Facilitator {
  const { members, settlements, isTrusted, log, verifyMs = 4000, settleMs = 12_000, lookMs = 8000 } = options;
  const deadlines = { verify: createDeadline(verifyMs), settle: createDeadline(settleMs) };
  const [oneLook, allLooks] = [createDeadline(ONE_LOOK_MS), createDeadline(lookMs)];
  /** Who has taken a payment that another one refuses: it is the first to be asked to settle it. */
  const takers = new WeakMap<PaymentPayload, FacilitatorMember>();

  return {
    members,
    async supported(signal) {
      const answers = await Promise.allSettled(members.map((member) => member.supported(signal)));
      const known = members.flatMap((member, at) => {
        const answer = answers[at];
        if (answer?.status !== "fulfilled") return [];
        return [{ member, kinds: answer.value.filter(({ network }) => isTrusted(member.name, network)) }];
      });
      if (known.length === 0) throw toOutage(answers);
      return [...known].sort(byState).flatMap(({ kinds }) => kinds);
    },

    async verify(payment, offer, signal) {
      let failure: unknown;
      let refused: VerifyResponse | undefined;
      let foreign: VerifyResponse | undefined;
      for (const { member, bound } of candidates(offer, signal, deadlines.verify)) {
        const tried = await member.ask(({ verify }) => verify(payment, offer, bound()));
        if ("answer" in tried) {
          const verdict = tried.answer;
          if (!verdict.isValid && hasForeignFeePayer(verdict.invalidReason)) {
            foreign = verdict;
            continue;
          }
          if (verdict.isValid && refused) noteTaker(payment, member, refused);
          if (verdict.isValid || !MAY_BE_OUTAGE.test(verdict.invalidReason ?? "")) return verdict;
          refused ??= verdict;
        } else failure = tried.failure;
        if (signal.aborted) break;
      }
      if (refused) return refused;
      if (foreign && failure === undefined) return foreign;
      throw failure;
    },

    async settle(payment, offer, signal, { isAgain = false } = {}) {
      let failure: unknown;
      /** Whether a facilitator may have sent the payment. */
      let isSent = isAgain;
      let foreign: SettleAnswer | undefined;
      for (const { member, bound } of candidates(offer, signal, deadlines.settle, takers.get(payment))) {
        const shown = isSent ? await look(payment, offer, signal) : undefined;
        if (shown) return shown;
        const tried = await member.ask(({ settle }) => settle(payment, offer, bound(), { isAgain }));
        if ("answer" in tried && !tried.answer.success && hasForeignFeePayer(tried.answer.errorReason)) {
          foreign = { ...tried.answer, by: member.name };
          continue;
        }
        if ("answer" in tried && !isTroubled(tried.answer)) {
          const proves = tried.answer.success || !isSent || isAgain;
          return proves ? { ...tried.answer, by: member.name } : lookLonger(payment, offer, signal);
        }
        failure = "failure" in tried ? tried.failure : toTrouble(member, tried.answer);
        if (signal.aborted) break;
        isSent ||= !isUnsent(failure);
      }
      if (foreign && failure === undefined) return foreign;
      throw failure;
    },

    watch(listener) {
      for (const member of members) member.watch(listener);
    },

    async warnings() {
      const own = await Promise.all(members.map(({ facilitator }) => facilitator.warnings?.() ?? []));
      const down = members
        .filter((member) => !member.isUp())
        .map(({ name }) => `The facilitator ${name} does not answer and is passed over`);
      return [...down, ...own.flat()];
    },
  };

  /**
   * The facilitators to ask, in order: those that are up first, `first` before the others; distrusted ones are left out.
   * An offer that names a fee payer can be settled only by that payer's facilitator. Those behind which another one is up
   * have a timeout.
   * @throws Problem `facilitator-unavailable` when none is left.
   */
  function candidates(
    { network, extra }: PaymentRequirements,
    signal: AbortSignal,
    deadline: () => AbortSignal,
    first?: FacilitatorMember,
  ): readonly Candidate[] {
    const { feePayer } = extra;
    const able = typeof feePayer === "string" ? members.filter((one) => one.paysFees(network, feePayer)) : members;
    const asked = (able.length > 0 ? able : members).filter(({ name }) => isTrusted(name, network));
    const preferred = [...asked].sort((one, other) => Number(other === first) - Number(one === first));
    const sorted = preferred.map((member) => ({ member })).sort(byState);
    if (sorted.length === 0)
      throw new Problem("facilitator-unavailable", "No facilitator that could settle this payment is trusted");
    const ups = sorted.filter(({ member }) => member.isUp()).length;
    const patient = (ups > 0 ? ups : sorted.length) - 1;
    return sorted.map(({ member }, at) => ({
      member,
      bound: () => (at === patient ? signal : AbortSignal.any([signal, deadline()])),
    }));
  }

  /**
   * Notes who has accepted a payment that another facilitator refuses. The other one is not down: its node may be, or it
   * does not know this payer's kind of wallet.
   */
  function noteTaker(
    payment: PaymentPayload,
    taker: FacilitatorMember,
    { invalidReason: reason }: VerifyResponse,
  ): void {
    takers.set(payment, taker);
    log.warn("facilitator.refuses-alone", { taker: taker.name, network: payment.accepted.network, reason });
  }

  /** A facilitator that answers is not down: it has no gas, or its own node did not answer. */
  function toTrouble({ name }: FacilitatorMember, { network, errorReason, errorMessage }: SettleResponse): Problem {
    const reason = [errorReason, errorMessage].filter(Boolean).join(": ").slice(0, LONGEST_REASON);
    log.warn("facilitator.cannot-settle", { facilitator: name, network, reason });
    return unsettled(`The facilitator ${name} could not settle this payment: ${reason}`);
  }

  /** The settlement, if the chain shows it. @throws Problem `settlement-unknown` when no other may be asked. */
  async function look(
    payment: PaymentPayload,
    offer: PaymentRequirements,
    signal: AbortSignal,
  ): Promise<SettleResponse | undefined> {
    const found = await settlements
      .find(payment, offer, AbortSignal.any([signal, oneLook()]))
      .catch((cause: unknown) => {
        throw unsettled("The chain cannot be asked whether an earlier facilitator has settled this payment", cause);
      });
    if (found.state === "dead") throw unsettled("This payment can no longer be settled");
    if (found.state === "open") return undefined;
    log.info("facilitator.settled-unheard", { network: offer.network, transaction: found.transaction });
    return { success: true, transaction: found.transaction, network: offer.network };
  }

  /** After one facilitator refused what another may have sent, only the chain can tell. */
  async function lookLonger(
    payment: PaymentPayload,
    offer: PaymentRequirements,
    signal: AbortSignal,
  ): Promise<SettleResponse> {
    const givenUp = AbortSignal.any([signal, allLooks()]);
    do {
      const shown = await look(payment, offer, signal);
      if (shown) return shown;
    } while (await pause(LOOK_PAUSE_MS, givenUp));
    throw unsettled("One facilitator may have sent this payment, and another refuses it");
  }
}

/** Sorts those that are up first, and otherwise keeps the order. */
const byState = (one: { member: FacilitatorMember }, other: { member: FacilitatorMember }): number =>
  Number(other.member.isUp()) - Number(one.member.isUp());

interface Candidate {
  readonly member: FacilitatorMember;
  /** Starts the timeout. */
  readonly bound: () => AbortSignal;
}

function isUnsent(error: unknown): boolean {
  const cause = error instanceof Error ? (error.cause as { code?: unknown } | undefined) : undefined;
  return UNSENT.test(String(cause?.code));
}

/** Prefers an outage to `unavailable`: while one facilitator has not answered, nothing is certain. */
function toOutage(answers: readonly PromiseSettledResult<unknown>[]): unknown {
  const errors = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason as unknown] : []));
  const isCertain = (error: unknown): boolean => error instanceof Problem && error.code === "unavailable";
  return errors.find((error) => !isCertain(error)) ?? errors[0];
}

const unsettled = (detail: string, cause?: unknown): Problem => new Problem("settlement-unknown", detail, { cause });
