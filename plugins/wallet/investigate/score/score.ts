import { type Risk, toLevel } from "../../screen/risk.ts";
import type { Evidence } from "../evidence.ts";
import { type Finding, RULES } from "./rules.ts";

/** One thing that raises the score. */
export interface Reason extends Finding {
  readonly code: string;
}

/** What the evidence comes to (decisions.md, "investigate"). */
export interface Assessment {
  /** 0 to 100, higher is riskier. */
  readonly score: number;
  /** By the score, as in /v1/screen. */
  readonly verdict: Risk["risk_level"];
  /** While there are any, score and verdict are provisional: what these sources know may change both. */
  readonly failedSources: number;
  /** The heaviest first. */
  readonly reasons: readonly Reason[];
}

/** Only being sanctioned is critical: other reasons, however many, stay below it. */
const MOST = 99;

/** The points of all reasons added up: the same evidence gives the same score, and one reason more never a lower one. */
export function assess(evidence: Evidence): Assessment {
  const reasons = RULES.flatMap(({ code, weigh }) => weigh(evidence).map((found) => ({ code, ...found })));
  reasons.sort((one, other) => other.points - one.points); // stable: those of equal weight stay in the order of the rules
  const sum = reasons.reduce((total, { points }) => total + points, 0);
  const score = reasons.some(({ points }) => points === 100) ? 100 : Math.min(sum, MOST);
  const failedSources = new Set(evidence.missing.map(({ source }) => source)).size;
  return { score, verdict: toLevel(score), failedSources, reasons };
}
