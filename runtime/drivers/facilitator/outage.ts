import { Problem } from "../../api/problem.ts";

/** No usable answer of a facilitator: the payment is not refused, and may be tried again. */
export const toOutage = (detail: string, cause?: unknown): Problem =>
  new Problem("facilitator-unavailable", detail, { cause, retryAfter: 5 });
