import type { Log } from "../../api/capabilities.ts";
import { createDeadline } from "../../core/time/deadline.ts";
import type { Facilitator, SupportedKind } from "../../core/x402/x402.ts";

/** One of several facilitators, with its state. Shared by all rails that name it. */
export interface FacilitatorMember {
  readonly name: string;
  readonly facilitator: Facilitator;
  isUp(): boolean;
  /** Asks it. After an outage others are asked first until it answers again; background checks find that out. */
  ask<T>(work: (facilitator: Facilitator) => Promise<T>): Promise<Asked<T>>;
  /** Reads the kinds of payments that it accepts, and notes its fee payers. */
  supported(signal: AbortSignal): Promise<readonly SupportedKind[]>;
  /** Whether it has ever named this fee payer (x402 `exact` on Solana, `extra.feePayer`); only it can sign for it. */
  paysFees(network: string, feePayer: string): boolean;
  /** Calls the listener when it goes down or comes back, or the result of `supported` may have changed. */
  watch(listener: () => void): void;
  close(): void;
}

/** What it has answered, or why it has not. */
export type Asked<T> = { readonly answer: T } | { readonly failure: unknown };

export interface MemberOptions {
  readonly name: string;
  readonly facilitator: Facilitator;
  readonly log: Log;
  /** The delay before it is asked again when down; doubled after each failure, up to five times. */
  readonly restMs?: number;
}

const ASK_MS = 2500;

/** One of several facilitators. */
export function createMember({ name, facilitator, log, restMs = 2000 }: MemberOptions): FacilitatorMember {
  const patience = createDeadline(ASK_MS);
  const feePayers = new Set<string>();
  const listeners: (() => void)[] = [];
  let isUp = true;
  /** Outages since the last answered call. The more, the longer it is not asked, even when `supported` answers. */
  let outages = 0;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  const turn = (up: boolean): void => {
    if (isUp === up) return;
    isUp = up;
    for (const listener of listeners) listener();
  };
  const comeBack = (): void => {
    clearTimeout(timer);
    if (!isUp) log.warn("facilitator.back", { facilitator: name });
    turn(true);
  };

  const member: FacilitatorMember = {
    name,
    facilitator,
    isUp: () => isUp,
    async ask(work) {
      try {
        const answer = await work(member.facilitator);
        outages = 0;
        comeBack();
        return { answer };
      } catch (failure) {
        outages += 1;
        if (isUp) log.warn("facilitator.passed-over", { facilitator: name, error: failure });
        turn(false);
        rest();
        return { failure };
      }
    },
    async supported(signal) {
      const kinds = await facilitator.supported(AbortSignal.any([signal, patience()]));
      for (const { network, extra } of kinds)
        if (typeof extra?.feePayer === "string") feePayers.add(`${network} ${extra.feePayer}`);
      return kinds;
    },
    paysFees: (network, feePayer) => feePayers.has(`${network} ${feePayer}`),
    watch(listener) {
      listeners.push(listener);
      facilitator.watch?.(listener);
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
  return member;

  function rest(): void {
    clearTimeout(timer);
    if (!isClosed) timer = setTimeout(() => void tryAgain(), restMs * 2 ** Math.min(outages - 1, 5)).unref();
  }

  async function tryAgain(): Promise<void> {
    try {
      await member.supported(patience());
      if (!isClosed) comeBack();
    } catch {
      outages += 1;
      rest();
    }
  }
}
