import { type Risk, toLevel } from "../../screen/risk.ts";
import type { Evidence } from "../evidence.ts";
import { type Rule, type RuleFinding, weighAll } from "./rules.ts";

/** A rule's contribution to the score. `most` is the rule's weight: the most points that it gives. */
export interface Reason extends RuleFinding, Pick<Rule, "code" | "most"> {}

/** Score and verdict with their reasons (README.md in the folder above). */
export interface Assessment {
  /** 0 to 100, higher is riskier, from the findings only. */
  readonly score: number;
  /** The level of the score, as in /v1/screen; `inconclusive` when missing parts might change it. */
  readonly verdict: Risk["risk_level"] | "inconclusive";
  /** Whether the score may be higher: a source has failed, or the subject's history was not read to its beginning. */
  readonly provisional: boolean;
  /** Heaviest first. */
  readonly reasons: readonly Reason[];
}

/** The maximum without a sanctions match: only such a match is critical. */
const MOST = 99;

/** Adds up the points of all rules. Another reason never lowers the score. */
export function assess(evidence: Evidence): Assessment {
  const reasons = weighAll(evidence);
  // The sort is stable, so ties stay in the order of the rules.
  reasons.sort((one, other) => other.points - one.points);
  const sum = reasons.reduce((total, { points }) => total + points, 0);
  const isListed = reasons.some(({ points }) => points === 100);
  const score = isListed ? 100 : Math.min(sum, MOST);
  const stakes = evidence.missing.map(({ atStake }) => atStake);
  const worst = stakes.includes(100) ? 100 : Math.min(MOST, sum + stakes.reduce((total, each) => total + each, 0));
  const level = toLevel(score);
  return {
    score,
    verdict: toLevel(Math.max(score, worst)) === level ? level : "inconclusive",
    provisional: !isListed && (worst > score || !evidence.movements.isWhole),
    reasons,
  };
}
