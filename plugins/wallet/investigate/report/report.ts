import type { Evidence } from "../evidence.ts";
import type { Narrative } from "../narrative.ts";
import type { Assessment } from "../score/score.ts";

/** All that a report says. Its files are made from it alone: the same report gives the same bytes. */
export interface Report {
  /** `<site>/investigate/v1`. */
  readonly domain: string;
  readonly evidence: Evidence;
  readonly assessment: Assessment;
  readonly narrative: Narrative["text"];
}

/** What a report is not. */
export const DISCLAIMER =
  "This report was made by a program from public sources at the stated time. It is no legal, financial or compliance " +
  "advice, and no statement about any person. Addresses can be mistaken, labels can be wrong, and what no source knows " +
  "is not in it: verify before you act.";

/** report.json: the evidence with everything that was computed from it. */
export function toData({ domain, evidence, assessment, narrative }: Report): string {
  return `${JSON.stringify({ domain, ...assessment, narrative, ...evidence, disclaimer: DISCLAIMER }, undefined, 2)}\n`;
}
