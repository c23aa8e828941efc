import type { Log } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { createDeadline, pause } from "../../core/deadline.ts";
import type {
  Facilitator,
  PaymentPayload,
  PaymentRequirements,
  SettlementReader,
  SettleResponse,
} from "../../core/x402/x402.ts";
import type { FacilitatorMember } from "./member.ts";

export interface FailoverOptions {
  /** In the order in which they are asked. */
  readonly members: readonly FacilitatorMember[];
  readonly settlements: Pick<SettlementReader, "find">;
  readonly log: Log;
  /** Whether a facilitator is believed on a network; left out: each is. */
  readonly isTrusted?: (name: string, network: string) => boolean;
  /** How long one that is not the last may take, for a verdict and for a settlement. */
  readonly verifyMs?: number;
  readonly settleMs?: number;
  /** How long the chain is asked about what a facilitator may have sent, once another one refuses it. */
  readonly lookMs?: number;
}

const LOOK_PAUSE_MS = 500;
const ONE_LOOK_MS = 3000;

/** Failures before anything was sent: codes of Node and undici. After all others the request may have arrived. */
const UNSENT = /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/;

/**
 * Several facilitators as one. A verdict is asked of the next one when the first does not answer. So is a settlement, but
 * once a request may have arrived, the chain is asked before the next facilitator is, and the next one's refusal proves
 * nothing: what it refuses may be what the first has sent. An authorization can be used once, whoever sends it.
 */
export function createFailover(options: FailoverOptions): Facilitator {
  const { members, settlements, log, verifyMs = 4000, settleMs = 12_000, lookMs = 8000 } = options;
  const { isTrusted = () => true } = options;

  const deadlines = { verify: createDeadline(verifyMs), settle: createDeadline(settleMs) };
  const [oneLook, allLooks] = [createDeadline(ONE_LOOK_MS), createDeadline(lookMs)];

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
      for (const { member, bound } of candidates(offer, signal, deadlines.verify)) {
        const tried = await attempt(member, ({ verify }) => verify(payment, offer, bound()));
        if ("answer" in tried) return tried.answer;
        failure = tried.failure;
        if (signal.aborted) break;
      }
      throw failure;
    },

    async settle(payment, offer, signal, { isAgain = false } = {}) {
      let failure: unknown;
      /** Whether somebody may have sent it. */
      let isSent = isAgain;
      for (const { member, bound } of candidates(offer, signal, deadlines.settle)) {
        const shown = isSent ? await look(payment, offer, signal) : undefined;
        if (shown) return shown;
        const tried = await attempt(member, ({ settle }) => settle(payment, offer, bound(), { isAgain }));
        if ("answer" in tried) {
          const proves = tried.answer.success || !isSent || isAgain;
          return proves ? { ...tried.answer, by: member.name } : lookLonger(payment, offer, signal);
        }
        failure = tried.failure;
        if (signal.aborted) break;
        isSent ||= !isUnsent(failure);
      }
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
   * Whom to ask, in this order: those that are up before those that are not; never one that is not believed. Where an offer
   * names who pays the fees, nobody else can settle it. All but the last have only so much time.
   * @throws Problem `facilitator-unavailable` when nobody is left.
   */
  function candidates(
    { network, extra }: PaymentRequirements,
    signal: AbortSignal,
    deadline: () => AbortSignal,
  ): readonly Candidate[] {
    const { feePayer } = extra;
    const able = typeof feePayer === "string" ? members.filter((one) => one.paysFees(network, feePayer)) : members;
    const asked = (able.length > 0 ? able : members).filter(({ name }) => isTrusted(name, network));
    const sorted = asked.map((member) => ({ member })).sort(byState);
    if (sorted.length === 0)
      throw new Problem("facilitator-unavailable", "No facilitator that could settle this payment is believed");
    return sorted.map(({ member }, at) => {
      const isLast = at === sorted.length - 1;
      return { member, bound: () => (isLast ? signal : AbortSignal.any([signal, deadline()])) };
    });
  }

  /** The settlement, if the chain shows it. @throws Problem `settlement-unknown` when nobody else may be asked. */
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

  /** One has refused what another may have sent: only the chain can tell. */
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

/** Those that are up first, otherwise in their own order. */
const byState = (one: { member: FacilitatorMember }, other: { member: FacilitatorMember }): number =>
  Number(other.member.isUp()) - Number(one.member.isUp());

interface Candidate {
  readonly member: FacilitatorMember;
  /** Limits its time, from now on. */
  readonly bound: () => AbortSignal;
}

/** Asks one, and notes whether it answers. */
async function attempt<T>(
  member: FacilitatorMember,
  ask: (facilitator: Facilitator) => Promise<T>,
): Promise<{ readonly answer: T } | { readonly failure: unknown }> {
  try {
    const answer = await ask(member.facilitator);
    member.noteAnswer();
    return { answer };
  } catch (failure) {
    member.noteOutage(failure);
    return { failure };
  }
}

function isUnsent(error: unknown): boolean {
  const cause = error instanceof Error ? (error.cause as { code?: unknown } | undefined) : undefined;
  return UNSENT.test(String(cause?.code));
}

/** As long as one may be there without having answered, nothing is certain. */
function toOutage(answers: readonly PromiseSettledResult<unknown>[]): unknown {
  const errors = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason as unknown] : []));
  const isCertain = (error: unknown): boolean => error instanceof Problem && error.code === "unavailable";
  return errors.find((error) => !isCertain(error)) ?? errors[0];
}

const unsettled = (detail: string, cause?: unknown): Problem => new Problem("settlement-unknown", detail, { cause });
