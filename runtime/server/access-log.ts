import type { Response } from "express";
import type { Clock, Log } from "../api/capabilities.ts";
import type { Problem } from "../api/problem.ts";
import type { ListenOptions } from "./listen.ts";
import type { Recorder } from "./reply/reply.ts";
import { contextOf } from "./request/context.ts";

/** The most lines that are logged per window. The first line of each transaction is logged in addition. */
const MOST_LINES = 1_000;
const WINDOW_MS = 10_000;
const MAX_PATH = 256;

/**
 * One line per request, without headers, query and body. A flood cannot fill the disk: requests beyond the bounds are
 * counted, and the count is written when the next window begins.
 */
export function createAccessLog(log: Log, clock: Clock): Recorder {
  const admit = createWindow(clock, (omitted) => log.warn("http.lines-omitted", { omitted }));
  return (context, request, reply) => {
    const { id, path, startedAt, service, payer, network, transaction, amount, asset, isReplay, code } = context;
    if (!admit(transaction)) return;
    log.info("http.request", {
      id,
      method: request.method,
      path: path.slice(0, MAX_PATH),
      status: reply.status,
      ms: clock.now() - startedAt,
      bytes: request.method === "HEAD" ? 0 : Buffer.byteLength(reply.body ?? ""),
      ...(service !== undefined && { service }),
      ...(payer !== undefined && { payer }),
      ...(network !== undefined && { network }),
      ...(transaction !== undefined && { transaction }),
      ...(amount !== undefined && { amount }),
      ...(asset !== undefined && { asset }),
      ...(isReplay && { replay: true }),
      ...(code !== undefined && { code }),
    });
  };
}

/** Logs requests that Node could not read, which have neither a path nor an id, and connections that were not accepted. */
export function createRefusalLog(log: Log, clock: Clock): NonNullable<ListenOptions["onRefused"]> {
  const admit = createWindow(clock, (omitted) => log.warn("http.lines-omitted", { omitted }));
  return ({ status, code }, reason) => {
    if (admit()) log.info("http.refused", { status, code, ...(reason !== undefined && { reason }) });
  };
}

/** Logs why a call failed, if that was on our side. */
export type FailureLog = (response: Response, problem: Problem) => void;

/**
 * Logs within the same bounds. A call that ends as `unavailable` because the caller has disconnected is not logged; another
 * one without a cause was refused and is a warning.
 */
export function createFailureLog(log: Log, clock: Clock): FailureLog {
  const admit = createWindow(clock, (omitted) => log.warn("http.failures-omitted", { omitted }));
  return (response, problem) => {
    const { cause } = problem.options;
    const isLeft = response.closed && problem.code === "unavailable" && cause === undefined;
    if (problem.status < 500 || isLeft || !admit()) return;
    const { id } = contextOf(response);
    if (problem.code === "unavailable" && cause === undefined)
      return log.warn("http.failed", { id, error: problem.message });
    log.error("http.failed", { id, error: cause ?? problem });
  };
}

/**
 * True for the first `MOST_LINES` calls of each window, and for the first call with each key. `tell` gets the number of
 * calls beyond that when the next window begins.
 */
function createWindow(clock: Clock, tell: (omitted: number) => void): (key?: string) => boolean {
  const keys = new Set<string>();
  let beganAt = 0;
  let used = 0;
  return (key) => {
    const now = clock.now();
    // Absolute: a clock that was set back lengthens no window.
    if (Math.abs(now - beganAt) >= WINDOW_MS) {
      if (used > MOST_LINES) tell(used - MOST_LINES);
      beganAt = now;
      used = 0;
      keys.clear();
    }
    if (key === undefined || keys.has(key)) return ++used <= MOST_LINES;
    keys.add(key);
    return true;
  };
}
