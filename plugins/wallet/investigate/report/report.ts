import type { Evidence } from "../evidence.ts";
import type { Narrative } from "../narrative.ts";
import type { Assessment } from "../score/score.ts";

/** The content of a report. Its files are pure functions of it. */
export interface Report {
  /** `<site>/investigate/v1`. */
  readonly domain: string;
  readonly evidence: Evidence;
  readonly assessment: Assessment;
  readonly narrative: Narrative["text"];
}

/** The disclaimer at the end of every report. */
export const DISCLAIMER =
  "This report was made by a program from public sources at the stated time. It is no legal, financial or compliance " +
  "advice, and no statement about any person. Addresses can be mistaken, labels can be wrong, and what no source knows " +
  "is not in it: verify before you act.";

/** report.json: the evidence, the assessment and the narrative. */
export function toData({ domain, evidence, assessment, narrative }: Report): string {
  return `${JSON.stringify({ domain, ...assessment, narrative, ...evidence, disclaimer: DISCLAIMER }, undefined, 2)}\n`;
}
