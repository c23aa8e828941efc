import { type Host, Problem, type Upstream } from "#plugin";

const MINUTE_MS = 60_000;

/**
 * Until when each part of an attempt waits for its sources, in milliseconds after the attempt began. An attempt has 30
 * minutes. After its time, a part still sends its requests, but no longer waits.
 */
export const PATIENCE_MS = {
  balances: 4 * MINUTE_MS,
  explorer: 9 * MINUTE_MS,
  transfers: 17 * MINUTE_MS,
  counterparties: 22 * MINUTE_MS,
  names: 25 * MINUTE_MS,
  screening: 27 * MINUTE_MS,
} as const;

/**
 * An upstream whose requests are repeated and wait until a time. Its `unavailable` becomes `upstream-failed`, because
 * in a job `unavailable` means that the job's store has failed. @param patientUntil Unix milliseconds.
 */
export const toPatient = (upstream: Upstream, patientUntil: number): Upstream => ({
  ...upstream,
  get: (path, request) => upstream.get(path, { ...request, patientUntil }).catch(toFailed),
  post: (path, body, request) => upstream.post(path, body, { ...request, patientUntil }).catch(toFailed),
  rpc: (method, params, request) => upstream.rpc(method, params, { ...request, patientUntil }).catch(toFailed),
  stream: (path, request) => upstream.stream(path, { ...request, patientUntil }).catch(toFailed),
});

function toFailed(error: unknown): never {
  if (error instanceof Problem && error.code === "unavailable") throw new Problem("upstream-failed", error.message);
  throw error;
}

/** A host whose upstreams wait. */
export const toPatientHost = <Given extends Pick<Host, "upstream">>(host: Given, patientUntil: number): Given => ({
  ...host,
  upstream: (id: string) => toPatient(host.upstream(id), patientUntil),
});
