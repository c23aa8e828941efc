import { Problem, type ProblemCode } from "../../api/problem.ts";
import { toProblemDocument } from "../rpc/door.ts";
import { RPC_CODES, type RpcError } from "../rpc/json-rpc.ts";
import type { TaskChange } from "./task-book.ts";

/** The codes of the peer methods, besides JSON-RPC's. */
export const PEER_CODES = {
  ...RPC_CODES,
  badSignature: -32001,
  replay: -32002,
  policy: -32003,
  peerCard: -32004,
  notFound: -32005,
  storeUnavailable: -32006,
} as const;

/**
 * The error codes of A2A (0.3, section 8.2; 1.0, section 5.4). The peer methods use the same numbers with other
 * meanings.
 */
export const A2A_CODES = {
  ...RPC_CODES,
  taskNotFound: -32001,
  taskNotCancelable: -32002,
  pushNotSupported: -32003,
  unsupportedOperation: -32004,
  contentTypeNotSupported: -32005,
  extendedCardNotConfigured: -32007,
  versionNotSupported: -32009,
} as const;

/** An error answer: the JSON-RPC error object, and the HTTP status and `Retry-After`. */
export interface A2aRefusal {
  readonly error: RpcError;
  /** Default: 200. */
  readonly status?: number;
  /** Whole seconds. */
  readonly retryAfter?: number;
  /** What was thrown, for the log. */
  readonly problem?: Problem;
}

export const isRefusal = (answer: object): answer is A2aRefusal => "error" in answer;

export const refuse = (code: number, message: string): A2aRefusal => ({ error: { code, message } });

/** Params that do not fit the method. */
export const refuseParams = (message: string): A2aRefusal => refuse(A2A_CODES.invalidParams, message);

/** Too many requests. */
export const refuseForNow = (retryAfter: number): A2aRefusal => ({
  error: { code: PEER_CODES.policy, message: `Too many requests; try again in ${retryAfter} s` },
  status: 429,
  retryAfter,
});

/** Anything that a peer method throws, as a refusal. A store that is down has a code of its own. */
export function toPeerRefusal(thrown: unknown, requestId: string): A2aRefusal {
  const problem = Problem.from(thrown);
  const { retryAfter = 1 } = problem.options;
  if (problem.code === "rate-limited") return refuseForNow(retryAfter);
  if (HTTP_FAULTS.includes(problem.code)) return { error: problem.toRpcError(requestId), status: problem.status };
  const isStore = problem.code === "unavailable";
  const code = isStore ? PEER_CODES.storeUnavailable : PEER_CODES.internalError;
  return { error: { code, message: isStore ? problem.message : INTERNAL }, problem };
}

/** Anything that a standard method throws, as a refusal with the problem's own code, which is not one of A2A's. */
export function toTaskRefusal(thrown: unknown, requestId: string): A2aRefusal {
  const problem = Problem.from(thrown);
  const { retryAfter } = problem.options;
  return {
    error: problem.toRpcError(requestId),
    problem,
    ...(HTTP_FAULTS.includes(problem.code) && { status: problem.status }),
    ...(retryAfter !== undefined && { retryAfter }),
  };
}

/**
 * What an error says besides its message, in 1.0's form: a list of typed objects (section 9.5). The first one names an error
 * of A2A's own.
 */
export function toDetails({ code, data }: RpcError): readonly object[] {
  const reason = REASONS.get(code);
  return [
    ...(reason === undefined ? [] : [{ "@type": `${TYPES}/google.rpc.ErrorInfo`, reason, domain: "a2a-protocol.org" }]),
    ...(data === undefined ? [] : [{ "@type": `${TYPES}/google.protobuf.Struct`, value: data }]), // ProtoJSON's name for any JSON object.
  ];
}

const TYPES = "type.googleapis.com";

/** The names of A2A's own errors: those of 1.0, section 5.4, without "Error". */
const REASONS: ReadonlyMap<number, string> = new Map([
  [A2A_CODES.taskNotFound, "TASK_NOT_FOUND"],
  [A2A_CODES.taskNotCancelable, "TASK_NOT_CANCELABLE"],
  [A2A_CODES.pushNotSupported, "PUSH_NOTIFICATION_NOT_SUPPORTED"],
  [A2A_CODES.unsupportedOperation, "UNSUPPORTED_OPERATION"],
  [A2A_CODES.contentTypeNotSupported, "CONTENT_TYPE_NOT_SUPPORTED"],
  [A2A_CODES.extendedCardNotConfigured, "EXTENDED_AGENT_CARD_NOT_CONFIGURED"],
  [A2A_CODES.versionNotSupported, "VERSION_NOT_SUPPORTED"],
]);

/** Problems that also set the HTTP status; all other errors have status 200. */
const HTTP_FAULTS: readonly ProblemCode[] = ["rate-limited", "payload-too-large", "unsupported-media-type"];
const INTERNAL: string = new Problem("internal" satisfies ProblemCode).message;

/** The end of a task without a result: `rejected` for the caller's faults, `failed` for ours. */
export function toEnd(problem: Problem, { requestId }: { readonly requestId: string }): TaskChange {
  const isTheirs = problem.status < 500;
  const text = withFullStop(`The task ${isTheirs ? "was rejected" : "failed"}: ${problem.message}`);
  return {
    state: isTheirs ? "rejected" : "failed",
    text: /nothing was charged/i.test(text) ? text : `${text} Nothing was charged.`,
    problem: toProblemDocument(problem, requestId),
  };
}

/** A text that ends with a full stop. */
export const withFullStop = (text: string): string => text.replace(/\.?$/, ".");
