import { type Risk, toLevel } from "../../screen/risk.ts";
import type { Evidence } from "../evidence.ts";
import { RULES, type RuleFinding } from "./rules.ts";

/** A rule's contribution to the score. */
export interface Reason extends RuleFinding {
  readonly code: string;
}

/** Score and verdict with their reasons (README.md in the folder above). */
export interface Assessment {
  /** 0 to 100, higher is riskier. */
  readonly score: number;
  /** The level of the score, as in /v1/screen. */
  readonly verdict: Risk["risk_level"];
  /** Above 0, score and verdict are provisional. */
  readonly failedSources: number;
  /** The heaviest first. */
  readonly reasons: readonly Reason[];
}

/** The maximum without a sanctions match: only that is critical. */
const MOST = 99;

/** Adds up the points of all rules. Another reason never lowers the score. */
export function assess(evidence: Evidence): Assessment {
  const reasons = RULES.flatMap(({ code, weigh }) => weigh(evidence).map((found) => ({ code, ...found })));
  reasons.sort((one, other) => other.points - one.points); // Stable: ties stay in the order of the rules.
  const sum = reasons.reduce((total, { points }) => total + points, 0);
  const score = reasons.some(({ points }) => points === 100) ? 100 : Math.min(sum, MOST);
  const failedSources = new Set(evidence.missing.map(({ source }) => source)).size;
  return { score, verdict: toLevel(score), failedSources, reasons };
}
