import { toScore } from "../../screen/risk.ts";
import { ENS_RECORDS, type Evidence, SANCTIONS_LIST, type Screened } from "../evidence.ts";
import { chainOf } from "../subject.ts";
import {
  type Surroundings,
  type Weighed,
  weighBadCounterparties,
  weighBadNeighbourhood,
  weighDust,
  weighMixer,
  weighMixerDust,
  weighNearSanctioned,
  weighPaidBySanctioned,
  weighPaidSanctioned,
} from "./exposure-rules.ts";
import { type Exposure, findExposures } from "./exposures.ts";
import { toExposureFinding } from "./words.ts";

/** A rule's result. */
export interface RuleFinding {
  readonly points: number;
  /** In a sentence. */
  readonly finding: string;
}

/** A row of the table in README.md. */
export interface Rule {
  readonly code: string;
  /** The maximum of its points. */
  readonly most: number;
  /** What it looks for. */
  readonly about: string;
  /** Whether the sources that were read would have shown it; always when left out. */
  readonly canTell?: (evidence: Evidence) => boolean;
  weigh(evidence: Evidence, exposures: readonly Exposure[]): RuleFinding | undefined;
}

const DAY_SECONDS = 86_400;
const YOUNG_DAYS = 30;

/** A rule about money between the subject and flagged addresses. */
const toExposureRule = (
  head: Omit<Rule, "weigh">,
  weigh: (exposures: readonly Exposure[], surroundings: Surroundings) => Weighed | undefined,
): Rule => ({
  ...head,
  weigh({ movements }, exposures) {
    const weighed = weigh(exposures, movements);
    return weighed && { points: weighed.points, finding: toExposureFinding(head.code, weighed.exposures) };
  },
});

/** Whether the reputations of counterparties are known; GoPlus knows none on Solana. */
const knowsReputations = ({ subject, graph: { nodes } }: Evidence): boolean =>
  subject.family === "evm" &&
  (nodes.length === 1 || nodes.some((node) => node.hop > 0 && node.screened?.partial === false));

/** Whether the subject's ENS name, if it has one, and the addresses in its records were read. */
const knowsNames = ({ subject, missing }: Evidence): boolean =>
  subject.family === "evm" && missing.every(({ source }) => source !== "ens_name" && source !== ENS_RECORDS);

/** All rules. More evidence against the subject never gives fewer points. */
export const RULES: readonly Rule[] = [
  {
    code: "sanctioned",
    most: 100,
    about: "OFAC's list names the address",
    weigh: ({ screened }) =>
      screened.sanctions_match ? { points: 100, finding: "OFAC's SDN list names this address." } : undefined,
  },
  {
    code: "bad_reputation",
    most: 99,
    about: "GoPlus has flags against it",
    canTell: ({ screened }) => !screened.partial,
    weigh({ screened }) {
      const flags = screened.signals.filter(({ source }) => source === "goplus");
      if (flags.length === 0) return undefined;
      const severities = flags.map(({ severity }) => severity);
      return { points: toScore(severities), finding: flags.map(({ detail }) => detail).join(" ") };
    },
  },
  {
    code: "not_screened",
    most: 30,
    about: "the present sanctions list could not be searched",
    canTell: ({ missing }) => missing.every(({ source }) => source !== SANCTIONS_LIST),
    weigh: ({ screened: { signals, risk_score } }) =>
      signals.length === 0 && risk_score > 0
        ? { points: 30, finding: "The present sanctions list could not be searched for this address." }
        : undefined,
  },
  {
    code: "linked_sanctioned",
    most: 80,
    about: "its ENS name gives another address, which is sanctioned",
    canTell: knowsNames,
    weigh({ identity: { links } }) {
      const listed = links.filter(({ reason, screened }) => reason === "ens-record" && isListed(screened));
      if (listed.length === 0) return undefined;
      return { points: 80, finding: `Its ENS name gives another address, which is sanctioned: ${listed[0]?.address}.` };
    },
  },
  toExposureRule({ code: "paid_sanctioned", most: 95, about: "it has paid a sanctioned address" }, weighPaidSanctioned),
  toExposureRule(
    { code: "paid_by_sanctioned", most: 95, about: "a sanctioned address has paid it" },
    weighPaidBySanctioned,
  ),
  toExposureRule(
    { code: "dusted_by_sanctioned", most: 10, about: "a sanctioned address sent it dust, and was not answered" },
    weighDust,
  ),
  toExposureRule(
    { code: "near_sanctioned", most: 45, about: "a sanctioned address is two hops away" },
    weighNearSanctioned,
  ),
  toExposureRule(
    { code: "mixer_contact", most: 80, about: "it dealt with a mixer", canTell: knowsReputations },
    weighMixer,
  ),
  toExposureRule(
    {
      code: "dusted_by_mixer",
      most: 10,
      about: "a mixer sent it a little, and was not answered",
      canTell: knowsReputations,
    },
    weighMixerDust,
  ),
  toExposureRule(
    {
      code: "bad_counterparties",
      most: 65,
      about: "it dealt with an address of bad reputation",
      canTell: knowsReputations,
    },
    weighBadCounterparties,
  ),
  toExposureRule(
    {
      code: "bad_neighbourhood",
      most: 15,
      about: "addresses of bad reputation are two hops away",
      canTell: knowsReputations,
    },
    weighBadNeighbourhood,
  ),
  {
    code: "young",
    most: 15,
    about: "it is younger than 30 days",
    canTell: ({ activity: { firstSeenAt, seenSince }, investigatedAt }) =>
      firstSeenAt !== null || (seenSince !== null && investigatedAt - seenSince >= YOUNG_DAYS * DAY_SECONDS),
    weigh(evidence) {
      const days = toAgeDays(evidence);
      if (days === null || days >= YOUNG_DAYS) return undefined;
      const ago = `${days} ${days === 1 ? "day" : "days"} ago`;
      return { points: days < 7 ? 15 : 8, finding: `It was first seen on ${chainOf(evidence.subject)} ${ago}.` };
    },
  },
  {
    code: "unused",
    most: 5,
    about: "it was never used",
    canTell: ({ activity, movements }) => activity.has_history !== null || movements.firstAt !== null,
    // Who pays by signatures alone (EIP-3009), as buyers over x402 do, never sends a transaction.
    weigh: ({ activity, movements }) =>
      activity.has_history === false && movements.firstAt === null
        ? { points: 5, finding: "No use of the address was found: no transaction, balance or transfer." }
        : undefined,
  },
  {
    code: "fan_out",
    most: 10,
    about: "it has paid 100 addresses or more",
    weigh({ movements: { recipients } }) {
      if (recipients < 100) return undefined;
      return { points: recipients >= 500 ? 10 : 5, finding: `It has paid ${recipients} different addresses.` };
    },
  },
  {
    code: "pass_through",
    most: 25,
    about: "what it received, 1000 USDC or more, has left again",
    weigh(evidence) {
      if (!passesThrough(evidence)) return undefined;
      const days = toAgeDays(evidence);
      const isYoung = days !== null && days < YOUNG_DAYS;
      const how = isYoung ? ", within days of its first transaction" : "";
      const finding = `Nearly all USDC that it received, at least 1000, has left again for other addresses${how}.`;
      return { points: isYoung ? 25 : 5, finding };
    },
  },
];

/** All findings against the subject, in the order of the rules. */
export function weighAll(evidence: Evidence): (RuleFinding & Pick<Rule, "code" | "most">)[] {
  const exposures = findExposures(evidence);
  return RULES.flatMap(({ code, most, weigh }) => {
    const found = weigh(evidence, exposures);
    return found ? [{ code, most, ...found }] : [];
  });
}

/** Whole days since the first transaction; null when it is not known. */
function toAgeDays({ activity: { firstSeenAt }, investigatedAt }: Evidence): number | null {
  return firstSeenAt === null ? null : Math.max(0, Math.floor((investigatedAt - firstSeenAt) / DAY_SECONDS));
}

const isListed = (screened: Screened | null): boolean => screened?.sanctions_match === true;

function passesThrough({ movements }: Evidence): boolean {
  const usdc = movements.volumes.find(({ asset }) => asset === "USDC");
  if (!usdc) return false;
  const [received, sent] = [wholeUnits(usdc.received), wholeUnits(usdc.sent)];
  return received >= 1000n && sent * 10n >= received * 9n;
}

const wholeUnits = (amount: string): bigint => BigInt(amount.split(".")[0] ?? "0");
