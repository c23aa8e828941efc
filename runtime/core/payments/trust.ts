import type { Clock, Log } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { nullIfDamaged, unlessDamaged } from "../damage.ts";
import { isObject } from "../json.ts";
import { facilitatorsOf } from "../rails/facilitators.ts";
import type { RailManifest, SiteManifest } from "../set/manifest.ts";
import type { Store } from "../store.ts";
import type { Distrust } from "../x402/rails.ts";

/**
 * Which facilitators are trusted, per network. A facilitator that reports a settlement which the chain does not show is
 * distrusted until the chain shows it, the operator trusts the facilitator again, or a day has passed. Kept in the store
 * for all processes.
 */
export interface FacilitatorTrust {
  /** The reason, a sentence, why a facilitator is distrusted; undefined while it is trusted. Reads memory only. */
  reasonAgainst(facilitator: string, network: string): string | undefined;
  /** The reason against the first facilitator of a rail, when all are distrusted. Reads memory only. */
  reasonAgainstAll(rail: RailManifest): string | undefined;
  /** The facilitators that are distrusted now. */
  distrusted(): readonly Distrust[];
  /** Distrusts a facilitator: the chain does not show a settlement that it reported. */
  withdraw(claim: ReportedSettlement): void;
  /**
   * Ends distrust because the chain shows the payment by this transaction; another facilitator's transaction proves
   * nothing.
   */
  restore(claim: Pick<ReportedSettlement, "payment" | "transaction">): void;
  /**
   * Trusts a facilitator again on all networks, whatever it has reported so far. @returns on how many networks it was
   * distrusted. @throws Problem `bad-request` for a facilitator that no rail has, `unavailable`.
   */
  trustAgain(facilitator: string): Promise<number>;
  /** Reads the store. @throws Problem `unavailable`. */
  refresh(): Promise<void>;
  /** Calls the listener after every change. */
  watch(listener: () => void): void;
}

/** A facilitator and a network on which it settles. */
type Party = Pick<Distrust, "facilitator" | "network">;

export interface ReportedSettlement extends Party {
  /** The payment's key. */
  readonly payment: string;
  readonly transaction: string;
  /** When it was reported: Unix milliseconds. */
  readonly claimedAt: number;
}

/** A facilitator on one network: the doubt, or when the operator trusted it again (`pardonedAt`, Unix milliseconds). */
type Entry = { readonly doubt: Doubt } | { readonly pardonedAt: number };

interface Doubt extends Pick<ReportedSettlement, "payment" | "transaction"> {
  /** Unix milliseconds. */
  readonly at: number;
}

export interface FacilitatorTrustDeps {
  readonly site: Pick<SiteManifest, "rails" | "facilitators">;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
}

const DOUBT_MS = 24 * 60 * 60_000;
/** Longer than a settlement that the chain does not show is searched for. */
const TRUSTED_AGAIN_MS = 2 * DOUBT_MS;

export function createFacilitatorTrust({ site, store, clock, log }: FacilitatorTrustDeps): FacilitatorTrust {
  const parties = partiesOf(site);
  const entries = new Map<string, Entry>();
  const listeners: (() => void)[] = [];
  /** Keys whose newest entry is in memory and not yet in the store. */
  const unwritten = new Set<string>();
  const report = (error: unknown): void => log.error("facilitator.trust-not-kept", { error });

  const doubtOf = (facilitator: string, network: string): Doubt | undefined => {
    const entry = entries.get(keyOf(facilitator, network));
    if (!entry || !("doubt" in entry)) return undefined;
    return Math.abs(clock.now() - entry.doubt.at) < DOUBT_MS ? entry.doubt : undefined; // The clock may have been ahead.
  };
  const reasonAgainst = (facilitator: string, network: string): string | undefined => {
    const doubt = doubtOf(facilitator, network);
    return doubt && explain(facilitator, doubt);
  };
  const change = (key: string, entry: Entry | undefined): void => {
    if (entry) entries.set(key, entry);
    else entries.delete(key);
    for (const listener of listeners) listener();
  };

  /** Where only one facilitator settles, every settlement on the chain is its own, whatever the transaction's hash. */
  const isAlone = (network: string): boolean => parties.filter((party) => party.network === network).length === 1;
  const write = (key: string, work: () => Promise<void>): void => {
    unwritten.add(key);
    work()
      .catch(report)
      .finally(() => unwritten.delete(key));
  };

  return {
    reasonAgainst,
    reasonAgainstAll(rail) {
      const reasons = facilitatorsOf(rail, site).map((one) => reasonAgainst(one, rail.network));
      return reasons.includes(undefined) ? undefined : reasons[0];
    },
    distrusted: () =>
      parties.flatMap(({ facilitator, network }) => {
        const doubt = doubtOf(facilitator, network);
        return doubt ? [{ facilitator, network, reason: explain(facilitator, doubt), since: doubt.at }] : [];
      }),
    withdraw({ facilitator, network, payment, transaction, claimedAt }) {
      const key = keyOf(facilitator, network);
      if (doubtOf(facilitator, network)) return;
      const isTrustedAgain = (entry: Entry | undefined): boolean =>
        entry !== undefined && "pardonedAt" in entry && claimedAt <= entry.pardonedAt;
      if (isTrustedAgain(entries.get(key))) return;
      const entry: Entry = { doubt: { payment, transaction, at: clock.now() } };
      log.error("facilitator.false-settlement", { facilitator, network, payment, transaction });
      change(key, entry);
      write(key, async () => {
        const known = await store.get<Entry>(key).catch(unlessDamaged);
        if (isTrustedAgain(known))
          change(key, known); // Another process has just trusted it again.
        else await store.set(key, entry, DOUBT_MS);
      });
    },
    restore({ payment, transaction }) {
      for (const { facilitator, network } of parties) {
        const key = keyOf(facilitator, network);
        const entry = entries.get(key);
        if (!entry || !("doubt" in entry)) continue;
        const isOwn = entry.doubt.transaction === transaction || isAlone(network);
        if (entry.doubt.payment !== payment || !isOwn) continue;
        log.warn("facilitator.settlement-found", { facilitator, network, payment });
        change(key, undefined);
        write(key, () => store.delete(key));
      }
    },
    async trustAgain(facilitator) {
      const own = parties.filter((party) => party.facilitator === facilitator);
      if (own.length === 0) throw new Problem("bad-request", toUnknown(facilitator, parties));
      const doubted = own.filter(({ network }) => doubtOf(facilitator, network));
      for (const { network } of own) {
        const key = keyOf(facilitator, network);
        const entry: Entry = { pardonedAt: clock.now() };
        await store.set(key, entry, TRUSTED_AGAIN_MS);
        change(key, entry);
      }
      if (doubted.length > 0) log.warn("facilitator.pardoned", { facilitator });
      return doubted.length;
    },
    async refresh() {
      for (const { facilitator, network } of parties) {
        const key = keyOf(facilitator, network);
        const found = await store.get<unknown>(key).catch(nullIfDamaged);
        if (unwritten.has(key) || (found !== undefined && !isEntry(found))) continue; // A damaged entry is ignored.
        if (JSON.stringify(found) !== JSON.stringify(entries.get(key))) change(key, found);
      }
    },
    watch: (listener) => void listeners.push(listener),
  };
}

/** Every pair of a facilitator and a network on which it settles. */
function partiesOf(site: FacilitatorTrustDeps["site"]): readonly Party[] {
  const all = site.rails.flatMap((rail) =>
    facilitatorsOf(rail, site).map((facilitator) => ({ facilitator, network: rail.network })),
  );
  return [...new Map(all.map((party) => [keyOf(party.facilitator, party.network), party])).values()];
}

function isEntry(record: unknown): record is Entry {
  if (!isObject(record)) return false;
  const { pardonedAt, doubt } = record;
  return typeof pardonedAt === "number" || (isObject(doubt) && typeof doubt.at === "number");
}

const keyOf = (facilitator: string, network: string): string => `untrusted:${network}:${facilitator}`;

const explain = (facilitator: string, { transaction, at }: Doubt): string =>
  `The facilitator ${facilitator} reported the settlement ${transaction} at ${new Date(at).toISOString()}, and the chain does not show it`;

function toUnknown(facilitator: string, parties: readonly Party[]): string {
  const names = [...new Set(parties.map((party) => party.facilitator))].join(", ");
  return `No rail is settled by a facilitator ${facilitator}; there are: ${names}`;
}
