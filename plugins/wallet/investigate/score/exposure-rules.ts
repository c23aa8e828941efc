import type { Exposure, ExposureKind } from "./exposures.ts";

/** Points by dollars: the last tier that the amount reaches. */
type Tiers = readonly (readonly [from: number, points: number])[];

/** What a rule about exposures has found. */
export interface Weighed {
  readonly points: number;
  readonly exposures: readonly Exposure[];
}

/** Facts about the subject besides its exposures. */
export interface Surroundings {
  readonly senders: number;
}

const PAID_SANCTIONED: Tiers = [
  [0, 40],
  [1, 70],
  [1000, 80],
  [10_000, 90],
];
const PAID_BY_SANCTIONED: Tiers = [
  [0, 30],
  [100, 45],
  [1000, 60],
  [10_000, 75],
];
const NEAR_SANCTIONED: Tiers = [
  [1, 10],
  [1000, 20],
  [10_000, 30],
];
const MIXED: Tiers = [
  [0, 20],
  [100, 30],
  [1000, 40],
  [10_000, 50],
];
const PAID_BY_BAD: Tiers = [
  [1, 10],
  [1000, 25],
  [10_000, 40],
];
const PAID_BAD: Tiers = [
  [1, 5],
  [1000, 10],
  [10_000, 15],
];

/** From which share of all that was sent, or of all that was received, an exposure counts as more than occasional. */
const SHARE = { notable: 0.25, main: 0.5, tiny: 0.001 } as const;
/** From this number of transfers and this sum on, an exposure counts as a relation, with at least these points. */
const RELATION = { transfers: 10, dollars: 1000, points: 75 } as const;
/** An exposure below this sum, to one of at least this many senders, counts a quarter. */
const DILUTED = { dollars: 1000, senders: 100 } as const;

/** The subject sent money to sanctioned addresses. Any sum counts. */
export function weighPaidSanctioned(all: readonly Exposure[]): Weighed | undefined {
  const exposures = select(all, "sanctioned", 1).filter(({ sent }) => sent > 0);
  const [sent, share] = [sum(exposures, "sent"), shareOf(exposures, "sent")];
  return toWeighed(exposures, toTier(PAID_SANCTIONED, sent) + (share >= SHARE.notable ? 10 : 0), 95);
}

/** Sanctioned addresses sent the subject more than dust. */
export function weighPaidBySanctioned(all: readonly Exposure[], { senders }: Surroundings): Weighed | undefined {
  const exposures = select(all, "sanctioned", 1).filter(
    ({ received, isUnsolicited }) => received > 0 && !isUnsolicited,
  );
  const [received, share] = [sum(exposures, "received"), shareOf(exposures, "received")];
  const transfers = sum(exposures, "transfers");
  const isRelation = transfers >= RELATION.transfers && received >= RELATION.dollars;
  const main = received >= 100 && share >= SHARE.notable ? 15 : 0;
  const points = Math.max(toTier(PAID_BY_SANCTIONED, received) + main, isRelation ? RELATION.points : 0);
  const isDiluted = received < DILUTED.dollars && share < SHARE.tiny && senders >= DILUTED.senders;
  return toWeighed(exposures, isDiluted ? Math.ceil(points / 4) : points, 95);
}

/** Flagged addresses sent the subject a little, which nobody can refuse, and the subject sent them nothing. */
const toDustRule =
  (kind: ExposureKind) =>
  (all: readonly Exposure[]): Weighed | undefined => {
    const exposures = select(all, kind, 1).filter(({ isUnsolicited }) => isUnsolicited);
    return toWeighed(exposures, 5 * exposures.length, 10);
  };
export const weighDust = toDustRule("sanctioned");
export const weighMixerDust = toDustRule("mixer");

/** A sanctioned address is two hops away. */
export const weighNearSanctioned = (all: readonly Exposure[]): Weighed | undefined => {
  const exposures = select(all, "sanctioned", 2).filter(({ isUnsolicited }) => !isUnsolicited);
  return toWeighed(exposures, total(exposures.map(toNearPoints)), 45);
};

function toNearPoints({ sent, received, isDirected, isThroughHub }: Exposure): number {
  if (isThroughHub) return 3;
  const points = Math.max(5, toTier(NEAR_SANCTIONED, sent + received));
  return isDirected ? points : 5;
}

/** The subject dealt with a mixer, which hides where money comes from. */
export function weighMixer(all: readonly Exposure[]): Weighed | undefined {
  const exposures = select(all, "mixer", 1).filter(({ isUnsolicited }) => !isUnsolicited);
  const money = sum(exposures, "sent") + sum(exposures, "received");
  const share = Math.max(shareOf(exposures, "sent"), shareOf(exposures, "received"));
  const isMain = share >= SHARE.main && money >= 1000;
  const points = toTier(MIXED, money) + (share >= SHARE.notable && money >= 100 ? 15 : 0);
  return toWeighed(exposures, isMain ? Math.max(70, points) : points, 80);
}

/**
 * The subject was paid by addresses of bad reputation, or paid them. Paying counts less, because the payer may be a
 * victim.
 */
export function weighBadCounterparties(all: readonly Exposure[]): Weighed | undefined {
  const exposures = select(all, "bad", 1).filter(({ isUnsolicited }) => !isUnsolicited);
  const points = exposures.map(({ sent, received, share }) => {
    const main = received >= 100 && share.received >= SHARE.main ? 20 : 0;
    return Math.max(toTier(PAID_BY_BAD, received) + main, toTier(PAID_BAD, sent));
  });
  return toWeighed(exposures, total(points), 65);
}

/** Addresses of bad reputation are two hops away, not merely as customers of the same exchange. */
export const weighBadNeighbourhood = (all: readonly Exposure[]): Weighed | undefined => {
  const bad = select(all, "bad", 2);
  const mixers = select(all, "mixer", 2).filter((mixer) => bad.every(({ address }) => address !== mixer.address));
  const exposures = [...bad, ...mixers].filter(({ isThroughHub, isUnsolicited }) => !isThroughHub && !isUnsolicited);
  return toWeighed(exposures, 5 * exposures.length, 15);
};

const select = (all: readonly Exposure[], kind: ExposureKind, hop: Exposure["hop"]): Exposure[] =>
  all.filter((exposure) => exposure.kind === kind && exposure.hop === hop);

const sum = (exposures: readonly Exposure[], field: "sent" | "received" | "transfers"): number =>
  total(exposures.map((exposure) => exposure[field]));

const shareOf = (exposures: readonly Exposure[], side: keyof Exposure["share"]): number =>
  total(exposures.map(({ share }) => share[side]));

const total = (numbers: readonly number[]): number => numbers.reduce((before, each) => before + each, 0);

const toTier = (tiers: Tiers, dollars: number): number =>
  tiers.reduce((points, [from, more]) => (dollars >= from && (dollars > 0 || from > 0) ? more : points), 0);

const toWeighed = (exposures: readonly Exposure[], points: number, most: number): Weighed | undefined =>
  exposures.length === 0 || points === 0 ? undefined : { points: Math.min(points, most), exposures };
