import type { Call } from "../../../runtime/api/plugin.ts";
import type { StatusOf } from "../../../runtime/core/service.ts";

/** A free call that is never aborted, and whose steps just run. */
export const toCall = (facts: Partial<Call> = {}): Call => ({
  id: "1",
  service: "tested",
  signal: new AbortController().signal,
  payer: undefined,
  network: undefined,
  step: (_name, work) => work(),
  report: () => {},
  ...facts,
});

/** A status route that no test uses. */
export const noStatus: StatusOf = () => () => Promise.reject(new Error("nobody asks here how a job stands"));
