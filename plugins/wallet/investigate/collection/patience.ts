import { type Host, Problem, type Upstream } from "#plugin";

const MINUTE_MS = 60_000;

/**
 * Until when the parts of an attempt wait for their sources, in milliseconds after its beginning: an attempt has 30
 * minutes. A part that is over asks on, and waits no more.
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
 * An upstream whose requests are repeated and wait until a moment. One that is not configured has failed like any other:
 * `unavailable` is left to the job's store. @param patientUntil Unix milliseconds.
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

/** A host whose upstreams are patient. */
export const toPatientHost = <Given extends Pick<Host, "upstream">>(host: Given, patientUntil: number): Given => ({
  ...host,
  upstream: (id: string) => toPatient(host.upstream(id), patientUntil),
});
