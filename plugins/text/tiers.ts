/** The lowest score of each tier, best tier first. */
const TIERS = [
  ["S", 9000],
  ["A", 7500],
  ["B", 6000],
  ["C", 4000],
  ["D", 2000],
  ["F", 0],
] as const;

/** The tier of a score from 0 to 9999. Computed here: language models miscount. */
export const tierOf = (score: number): (typeof TIERS)[number][0] =>
  TIERS.find(([, least]) => score >= least)?.[0] ?? "F";
