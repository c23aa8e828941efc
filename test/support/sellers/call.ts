import type { Call } from "../../../runtime/api/plugin.ts";
import type { StatusOf } from "../../../runtime/core/service.ts";

/** A call as a request makes it: free, with nobody to end it, and steps that are simply done. */
export const toCall = (facts: Partial<Call> = {}): Call => ({
  ...{ id: "1", signal: new AbortController().signal, payer: undefined, network: undefined },
  step: (_name, work) => work(),
  report: () => {},
  ...facts,
});

/** Where nobody asks how a job stands. */
export const noStatus: StatusOf = () => () => Promise.reject(new Error("nobody asks here how a job stands"));
