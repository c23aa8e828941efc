import { Problem } from "../../api/problem.ts";
import type { Door } from "../../core/books/events.ts";
import type { Service } from "../../core/service.ts";
import type { SettleResponse } from "../../core/x402/x402.ts";
import type { RequestHeaders } from "../http/headers.ts";

/** A JSON-RPC endpoint (MCP, A2A). `handle` never rejects. */
export interface RpcDoor {
  /** As calls are counted; omitted when it sells nothing. */
  readonly name?: Door;
  /** The largest body, in bytes. */
  readonly maxBytes: number;
  handle(request: DoorRequest): Promise<DoorReply>;
}

/** One POST. */
export interface DoorRequest {
  readonly headers: RequestHeaders;
  /** Reads the body, once. @throws Problem `payload-too-large`, `rate-limited`, `unavailable`, `bad-request`. */
  readonly read: () => Promise<DoorBody>;
  /** Counts one message against the client's budget. @throws Problem `rate-limited`, `unavailable`. */
  readonly admit: (isPaying: boolean) => Promise<void>;
  /** The request id in the log and in problem documents. */
  readonly requestId: string;
  /** The client address, as the limits count it. */
  readonly client: string;
  /** Whether the URL asks for challenges in the form of x402 version 1. */
  readonly version1?: boolean;
  /** Aborted when the caller disconnects. */
  readonly signal: AbortSignal;
}

export interface DoorBody {
  /** Empty when the bytes are not JSON that can be parsed safely. */
  readonly text: string;
  readonly bytes: number;
}

export interface DoorReply {
  readonly status: number;
  /** By lower-cased name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The services that were called, for the log and the limits. */
  readonly calls: readonly DoorCall[];
}

/** How one call of a service ended. */
export interface DoorCall {
  /** A service's id; the door's name when no service was reached. */
  readonly service: string;
  /** Set when payment is required. */
  readonly challenge?: object;
  readonly receipt?: SettleResponse;
  /** The token of the receipt's amount. */
  readonly asset?: string;
  readonly problem?: Problem;
  /** The payment was settled for an earlier call, and this is that call's answer. */
  readonly isRepeat?: boolean;
}

/** A problem as an answer within a result, with the seconds to wait where they are known. */
export function toProblemDocument(problem: Problem, requestId: string): object {
  const { retryAfter } = problem.options;
  return { ...problem.toJSON(), ...(retryAfter !== undefined && { retry_after: retryAfter }), request_id: requestId };
}

/** How many bytes a message may have besides a service's input: a payment, ids, metadata. */
const ENVELOPE_BYTES = 16_384;
/** How many levels a message may have around an input: those of A2A, from the body to the data of a part. */
export const ENVELOPE_LEVELS = 6;

/** The largest body of a door to these services. */
export const toDoorBytes = (services: readonly Service[]): number =>
  ENVELOPE_BYTES + Math.max(0, ...services.map(({ bodyBytes }) => bodyBytes));

/** How much of that an unpaid message leaves to the payment that is added to it: stock clients write about 2 KB. */
const PAYMENT_BYTES = 8192;

/**
 * Keeps a service from getting a larger input by message than by its own route. @throws Problem `payload-too-large`.
 * @param needsRoom whether a payment will be added to the message: signed in vain, if there were no room for it
 */
export function checkMessageBytes({ bodyBytes }: Service, bytes: number, needsRoom = false): void {
  if (bytes <= bodyBytes + ENVELOPE_BYTES - (needsRoom ? PAYMENT_BYTES : 0)) return;
  throw new Problem("payload-too-large", `The message is larger than the ${bodyBytes} bytes that this service takes`);
}
