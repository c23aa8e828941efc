import { Problem, type ProblemCode } from "../../api/problem.ts";
import { RPC_CODES, type RpcError } from "../json-rpc.ts";

/** What the signed peer door adds to JSON-RPC's codes. */
export const PEER_CODES = {
  ...RPC_CODES,
  badSignature: -32001,
  replay: -32002,
  policy: -32003,
  peerCard: -32004,
  notFound: -32005,
  storeUnavailable: -32006,
} as const;

/** What A2A adds to JSON-RPC's codes (A2A 0.3, section 8.2; 1.0, section 5.4): the same numbers with other meanings. */
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

/** An error, and what HTTP is to say of it. */
export interface Refusal {
  readonly error: RpcError;
  /** 200 unless given. */
  readonly status?: number;
  /** Whole seconds. */
  readonly retryAfter?: number;
  /** Set when it is our fault. */
  readonly problem?: Problem;
}

export const refuse = (code: number, message: string): Refusal => ({ error: { code, message } });

/** Too many requests. */
export const refuseForNow = (code: number, retryAfter: number): Refusal => ({
  error: { code, message: `Too many requests; try again in ${retryAfter} s` },
  status: 429,
  retryAfter,
});

/** Whatever was thrown at the peer door: the store's absence has a code of its own. */
export function toPeerRefusal(thrown: unknown): Refusal {
  const problem = Problem.from(thrown);
  const isStore = problem.code === "unavailable";
  const code = isStore ? PEER_CODES.storeUnavailable : PEER_CODES.internalError;
  return { error: { code, message: isStore ? problem.message : INTERNAL }, problem };
}

/** Whatever was thrown on the way of a standard method: the problem's own code, which is clear of A2A's. */
export function toTaskRefusal(thrown: unknown): Refusal {
  const problem = Problem.from(thrown);
  const { retryAfter } = problem.options;
  return {
    ...{ error: problem.toRpcError(), problem },
    ...(problem.code === "rate-limited" && { status: problem.status }),
    ...(retryAfter !== undefined && { retryAfter }),
  };
}

const INTERNAL: string = new Problem("internal" satisfies ProblemCode).message;
