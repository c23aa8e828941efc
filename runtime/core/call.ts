import type { Door } from "./books/events.ts";
import type { Challenge } from "./x402/challenge.ts";
import type { SettleResponse } from "./x402/x402.ts";

/** One call of a service, through any surface. */
export interface Invocation {
  /** The request id. */
  readonly id: string;
  /**
   * Reads the input, unchecked. Called at most once: an unpaid call of a paid service is challenged without reading it.
   * @throws Problem `invalid-input`, `payload-too-large`, `unsupported-media-type` …
   */
  readonly input: () => Promise<GivenInput>;
  /** The payment as it arrived: the base64 text of a header, or an object. */
  readonly payment: string | object | undefined;
  /** A wallet's proof that it signs in, as it arrived (x402 extension `sign-in-with-x`). */
  readonly signIn?: string | object | undefined;
  /** The URL that challenges name and payments must name. */
  readonly resource: string;
  /** The networks (CAIP-2) on which the surface accepts payments; left out means all. */
  readonly networks?: readonly string[] | undefined;
  /** Aborted when the caller is gone. */
  readonly signal: AbortSignal;
  /** The peers' exchange that this call belongs to, from its header `X-A2A-Exchange`. */
  readonly exchange?: string | undefined;
  /** The way by which the call came in; left out: REST. */
  readonly door?: Door;
  /** Where the steps of the call are noted while it is on its way. */
  readonly course?: CallCourse;
  /** Does the work of the call so that what is read on its behalf counts for it; left out: the work is just done. */
  readonly around?: <T>(work: () => Promise<T>) => Promise<T>;
}

/** When the steps of a call were done, and what its payment says. Filled in on the way. */
export interface CallCourse extends CallSteps {
  /** The rail's id. */
  rail?: string | undefined;
  /** Who pays, as the payment says it and the book names it. */
  payer?: string | null;
  /** The id of the sale that the payment is, or will be. */
  sale?: string;
  /** Whether an earlier call has brought the payment, and it is on record. */
  isResumed?: boolean;
}

/** Unix milliseconds. */
export interface CallSteps {
  readonly begun: number;
  reserved?: number;
  verified?: number;
  worked?: number;
  recorded?: number;
}

/** An input, unchecked. */
export interface GivenInput {
  readonly value: unknown;
  /** Where its fields stand, as faults name it. */
  readonly from: "body" | "query";
  /** The fields that stand in the path instead. */
  readonly inPath?: readonly string[];
}

/** How a call ended. Failures other than those of payment are thrown as Problem. */
export type Outcome =
  | {
      readonly kind: "result";
      readonly output: unknown;
      /** Set when the call was paid. */
      readonly receipt?: SettleResponse;
      /** The payment was settled for an earlier call, whose answer this is. */
      readonly isRepeat?: boolean;
    }
  | {
      readonly kind: "challenge";
      readonly challenge: Challenge;
      /** Set when a settlement was tried and failed; sent as PAYMENT-RESPONSE. */
      readonly receipt?: SettleResponse;
    };

/** Counts something for the call that is being answered. */
export type NoteInCall = (what: "cache:hit" | "cache:miss") => void;

/** Runs a call so that what is done on its behalf can count for it. */
export type InCall = <T>(note: NoteInCall, call: () => Promise<T>) => Promise<T>;
