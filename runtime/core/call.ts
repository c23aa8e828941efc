import type { ProblemCode } from "../api/problem.ts";
import type { Door, SaleTimes } from "./books/events.ts";
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
  /** A wallet's sign-in proof as it arrived (x402 extension `sign-in-with-x`). */
  readonly signIn?: string | object | undefined;
  /** The resource URL in challenges and payments. */
  readonly resource: string;
  /** The networks (CAIP-2) on which the surface accepts payments; all when omitted. */
  readonly networks?: readonly string[] | undefined;
  /** Aborted when the caller disconnects, or with `CUT_OFF`. */
  readonly signal: AbortSignal;
  /** The exchange between peers that this call belongs to (header `X-A2A-Exchange`). */
  readonly exchange?: string | undefined;
  /** The surface of the call; REST when omitted. */
  readonly door?: Door;
  /** Where the steps of the call are noted. */
  readonly course?: CallCourse;
  /** Runs the work so that its cache reads are counted for this call; when omitted, the work just runs. */
  readonly around?: <T>(work: () => Promise<T>) => Promise<T>;
}

/** The reason of a call's `signal` where the server has ended the call: it closes, and its grace is over. */
export const CUT_OFF: DOMException = new DOMException("The server has closed", "AbortError");

/** The times of a call's steps, and the data of its payment. Filled in during the call. */
export interface CallCourse extends CallSteps {
  /** The rail's id. */
  rail?: string | undefined;
  /** The payer that the payment names, in the form of the book. */
  payer?: string | null;
  /** The id of the sale that the payment is or will be; of the earlier one, where `isResumed`. */
  sale?: string;
  /** Whether an earlier call has bought what this one asks for, with this payment or by its `payment-identifier`. */
  isResumed?: boolean;
}

/** The steps so far. */
export type CallSteps = { -readonly [Step in keyof SaleTimes]: SaleTimes[Step] };

/** An input, unchecked. */
export interface GivenInput {
  readonly value: unknown;
  /** Where its fields are: the first element of `loc` in faults. */
  readonly from: "body" | "query";
  /** The fields that are path parameters. */
  readonly inPath?: readonly string[];
  /** The JSON that it was read from; of a query, a JSON of its texts. */
  readonly json?: () => string;
}

/** How a call ended. All failures except those of payment are thrown as Problem. */
export type Outcome =
  | {
      readonly kind: "result";
      readonly output: unknown;
      /** Set when the call was paid for. */
      readonly receipt?: SettleResponse;
      /** The token of the receipt's amount. */
      readonly asset?: string;
      /** Set when the payment was settled for an earlier call, and this is that call's answer. */
      readonly isRepeat?: boolean;
    }
  | {
      readonly kind: "challenge";
      readonly challenge: Challenge;
      /** Set when a settlement was tried and failed; sent as PAYMENT-RESPONSE. */
      readonly receipt?: SettleResponse;
    };

/** How a call fails once its money has moved, or may have. */
export const MAY_BE_CHARGED: readonly ProblemCode[] = ["paid-not-delivered", "settlement-unknown"];

/** Counts an event for the current call. */
export type NoteInCall = (what: "cache:hit" | "cache:miss") => void;

/** Runs a call in a scope, so that `note` is called for events of that call. */
export type InCall = <T>(note: NoteInCall, call: () => Promise<T>) => Promise<T>;
