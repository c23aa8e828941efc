import type { Severity } from "./flags.ts";

/** The verdict fields of /v1/screen. */
export interface Risk {
  /** 0 to 100, higher is riskier. */
  readonly risk_score: number;
  readonly risk_level: "low" | "medium" | "high" | "critical";
  readonly recommendation: "allow" | "review" | "block";
}

const SCORE = { critical: 100, high: 70, medium: 30, low: 0 } as const;
const ADVICE = { critical: "block", high: "block", medium: "review", low: "allow" } as const;
const LEVELS = ["critical", "high", "medium"] as const;

/** @param isUncertain whether too little was searched for a score of 0 */
export function toRisk(severities: readonly Severity[], isUncertain: boolean): Risk {
  const score = Math.max(toScore(severities), isUncertain ? SCORE.medium : 0);
  const level = toLevel(score);
  return { risk_score: score, risk_level: level, recommendation: ADVICE[level] };
}

/** The level of a score. @param score 0 to 100. */
export const toLevel = (score: number): Risk["risk_level"] => LEVELS.find((level) => score >= SCORE[level]) ?? "low";

/** 0 to 100: the worst signal decides the level, and the others raise the score within it. A further one never lowers it. */
export function toScore(severities: readonly Severity[]): number {
  const count = (severity: Severity): number => severities.filter((each) => each === severity).length;
  const [high, medium] = [count("high"), count("medium")];
  if (count("critical") > 0) return SCORE.critical;
  if (high > 0) return Math.min(SCORE.high + 6 * (high - 1) + 2 * medium, SCORE.critical - 1);
  if (medium > 0) return Math.min(SCORE.medium + 10 * (medium - 1), SCORE.high - 1);
  return SCORE.low;
}
