import type { Challenge } from "./x402/challenge.ts";
import type { SettleResponse } from "./x402/x402.ts";

/** One call of a service, whatever the surface that it came through. */
export interface Invocation {
  /** The request id. */
  readonly id: string;
  /**
   * Reads the unchecked input, once, and only if it is needed: an unpaid call of a paid service is challenged unread.
   * @throws Problem `invalid-input`, `payload-too-large`, `unsupported-media-type` …
   */
  readonly input: () => Promise<{ readonly value: unknown; readonly from: "body" | "query" }>;
  /** The payment as it arrived: base64 text of a header, or an object. */
  readonly payment: string | object | undefined;
  /** The URL that the challenge names and that a payment must have been made for. */
  readonly resource: string;
  /** The networks (CAIP-2) on which this door takes payments; left out means all. */
  readonly networks?: readonly string[] | undefined;
  /** Aborted when the caller is gone. */
  readonly signal: AbortSignal;
  /** The exchange between peers that this call is paid for, from its header `X-A2A-Exchange`. */
  readonly exchange?: string | undefined;
}

/** How a call ended. Failures that are not about payment are thrown as Problem. */
export type Outcome =
  | {
      readonly kind: "result";
      readonly output: unknown;
      /** Set when the call was paid. */
      readonly receipt?: SettleResponse;
    }
  | {
      readonly kind: "challenge";
      readonly challenge: Challenge;
      /** Set when a settlement was tried and failed: the answer carries it as PAYMENT-RESPONSE. */
      readonly receipt?: SettleResponse;
    };
