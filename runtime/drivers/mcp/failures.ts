import {
  InsufficientScopeError,
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { Problem } from "../../api/problem.ts";
import { toLine } from "../../core/proxy/message.ts";
import { isConnectionBroken } from "../http/broken-connection.ts";
import { BROKEN_OFF } from "./request-streams.ts";

/** A failed call, and whether its session can still be used. */
export interface CallFailure {
  readonly problem: Problem;
  readonly isSessionLost: boolean;
  /** Whether the server may have forgotten the session, or no longer speaks its version. It has not run the call. */
  readonly isForgotten?: boolean;
  /**
   * Whether a connection over HTTP broke before an answer began: whether the call has run is not known. The end of a program is
   * none: the call may have caused it, and made again it would end the calls of others, too.
   */
  readonly isBroken?: boolean;
  /** The pause that it asked for, in milliseconds. */
  readonly restMs?: number | undefined;
  /** Whether the call timed out. */
  readonly isLate?: boolean;
  /** What the server said, where it answered with an error and keeps the session. */
  readonly words?: string;
}

/** The Problem when a session could not be opened. @param askedMs as of `toCallProblem` */
export function toStartProblem(error: unknown, title: string, askedMs?: number): Problem {
  const { problem } = toCallProblem(error, title, askedMs);
  const isTold = problem.code === "internal" || problem.code === "unavailable";
  return isTold ? problem : new Problem("upstream-failed", `${title} cannot be reached`, { cause: error });
}

/**
 * Whether a server that was asked for its versions may be an older one, which is told to initialize then (MCP 2026-07-28,
 * "Backward Compatibility"). The client does so after a 4xx and an error of JSON-RPC; some servers answer 500, a page, an
 * error without the request's id, or nothing.
 */
export function mayBeOlder(error: unknown): boolean {
  if (!(error instanceof SdkError)) return false;
  if (error.code === SdkErrorCode.RequestTimeout) return true;
  if (error.code !== SdkErrorCode.EraNegotiationFailed) return false;
  return !(error.cause instanceof TypeError); // `fetch` throws one when nothing was reached.
}

/** The server's answer is not a tool's result, or asks the caller for input. Its session goes on. */
const UNREADABLE: ReadonlySet<SdkErrorCode> = new Set([
  SdkErrorCode.InvalidResult,
  SdkErrorCode.UnsupportedResultType,
  SdkErrorCode.CapabilityNotSupported,
]);

const INVALID_PARAMS = -32602;

const UNNAMED_MS = 5000;

/**
 * The Problem of the MCP client's error. No call that fails with one is charged.
 * @param askedMs the pause that the server named with its last 429
 */
export function toCallProblem(error: unknown, title: string, askedMs?: number): CallFailure {
  if (error instanceof ProtocolError) {
    const isOutdated = error.code === ProtocolErrorCode.UnsupportedProtocolVersion;
    const isLost = isOutdated || LOST_SESSION.test(error.message);
    const problem = toProtocolProblem(error, title);
    return { problem, isSessionLost: isLost, isForgotten: isLost, ...(!isLost && { words: error.message }) };
  }
  if (isRefusal(error)) {
    const scope = error instanceof InsufficientScopeError ? `: ${error.message}` : "";
    const cause = new Error(`${title} refuses payphone's credential${scope}`, { cause: error });
    return {
      problem: new Problem("internal", undefined, { cause }),
      isSessionLost: true,
      isForgotten: isForgotten(error),
    };
  }
  if (isForgotten(error))
    return {
      problem: new Problem("upstream-failed", `${title} does not know the session`, { cause: error }),
      isSessionLost: true,
      isForgotten: true,
    };
  if (error instanceof SdkHttpError && error.status === 429) {
    const retryAfter = Math.ceil((askedMs ?? UNNAMED_MS) / 1000);
    const problem = new Problem("unavailable", `${title} is asked too often`, { retryAfter, cause: error });
    return { problem, isSessionLost: false, restMs: askedMs };
  }
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout)
    return {
      problem: new Problem("upstream-failed", `${title} took too long`, { cause: error }),
      isSessionLost: false,
      isLate: true,
    };
  if (error instanceof SdkError && UNREADABLE.has(error.code))
    return {
      problem: new Problem("upstream-failed", `${title}'s answer does not fit this service`, { cause: error }),
      isSessionLost: false,
    };
  return {
    problem: new Problem("upstream-failed", `${title} failed`, { cause: error }),
    isSessionLost: true,
    isBroken: error instanceof TypeError && isConnectionBroken(error.cause), // `fetch` throws a TypeError.
  };
}

/** The server answered the call with an error (JSON-RPC 2.0, section 5.1). */
function toProtocolProblem(error: ProtocolError, title: string): Problem {
  const words = toLine(error.message) ?? "it refuses the input";
  if (error.code === INVALID_PARAMS) return new Problem("unparseable-input", `${title}: ${words}`, { cause: error });
  const said = error.message === BROKEN_OFF ? "broke off its answer" : "answered with an error";
  return new Problem("upstream-failed", `${title} ${said}`, { cause: error });
}

/**
 * Whether the server has forgotten the session: 404 (MCP, "Session Management"); 401 from servers with an older rmcp, or
 * with a login and FastMCP in TypeScript; or a 400 or 403 that speaks of sessions, as from many servers made with the SDKs.
 */
const isForgotten = (error: unknown): boolean => {
  if (!(error instanceof SdkHttpError)) return false;
  const { status = 0, message } = error;
  return status === 404 || status === 401 || ([400, 403].includes(status) && OF_SESSIONS.test(message));
};

/** The message of a JSON-RPC error with status 200, as gateways send it. Narrow, since a tool may have its own sessions. */
const LOST_SESSION =
  /^(bad request: )?((mcp )?session (id )?(not found|expired)|(unknown|invalid|no valid|missing) (mcp )?session\b|server not initialized)/i;
const OF_SESSIONS = /\bsession|server not initialized|unsupported protocol version/i;

const isRefusal = (error: unknown): boolean =>
  error instanceof UnauthorizedError ||
  error instanceof InsufficientScopeError ||
  (error instanceof SdkHttpError && (error.status === 401 || error.status === 403));
