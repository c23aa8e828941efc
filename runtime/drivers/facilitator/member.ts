import type { Log } from "../../api/capabilities.ts";
import type { Facilitator, SupportedKind } from "../../core/x402/x402.ts";

/** One of several facilitators, and whether it answers. Shared by all rails that name it. */
export interface FacilitatorMember {
  readonly name: string;
  readonly facilitator: Facilitator;
  isUp(): boolean;
  /** It has answered a call. */
  noteAnswer(): void;
  /** It has not: others are asked first until it answers again, which is tried in the background. */
  noteOutage(error: unknown): void;
  /** Asks what it takes, and remembers who pays its fees. */
  supported(signal: AbortSignal): Promise<readonly SupportedKind[]>;
  /** Whether it has ever named this payer of fees (x402 `exact` on Solana, `extra.feePayer`): only it can sign for it. */
  paysFees(network: string, feePayer: string): boolean;
  /** Calls the listener whenever it goes down or comes back. */
  watch(listener: () => void): void;
  close(): void;
}

export interface MemberOptions {
  readonly name: string;
  readonly facilitator: Facilitator;
  readonly log: Log;
  /** Before one that is down is asked again; doubled each time that it fails, up to five times. */
  readonly restMs?: number;
}

const ASK_MS = 2500;

/** One of several facilitators. */
export function createMember({ name, facilitator, log, restMs = 2000 }: MemberOptions): FacilitatorMember {
  const feePayers = new Set<string>();
  const listeners: (() => void)[] = [];
  let isUp = true;
  /** Outages since the last call that was answered: one that says it is there, and then is not, is left alone for longer. */
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
    noteAnswer() {
      outages = 0;
      comeBack();
    },
    noteOutage(error) {
      outages += 1;
      if (isUp) log.warn("facilitator.passed-over", { facilitator: name, error });
      turn(false);
      rest();
    },
    async supported(signal) {
      const kinds = await facilitator.supported(AbortSignal.any([signal, AbortSignal.timeout(ASK_MS)]));
      for (const { network, extra } of kinds)
        if (typeof extra?.feePayer === "string") feePayers.add(`${network} ${extra.feePayer}`);
      return kinds;
    },
    paysFees: (network, feePayer) => feePayers.has(`${network} ${feePayer}`),
    watch: (listener) => void listeners.push(listener),
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
      await member.supported(AbortSignal.timeout(ASK_MS));
      if (!isClosed) comeBack();
    } catch {
      outages += 1;
      rest();
    }
  }
}
