import type { Clock, Log } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { MAY_BE_CHARGED, type Outcome } from "../call.ts";
import type { UsdOf, VerifiedPurchase } from "../payments/purchase.ts";
import type { PaymentRecord } from "../payments/record.ts";
import type { Service } from "../service.ts";
import type { SiteManifest } from "../set/manifest.ts";
import type { Store } from "../store.ts";
import { type Rail, railOf } from "../x402/rails.ts";
import type { Payment } from "../x402/read-payment.ts";
import type { PaymentRequirements } from "../x402/x402.ts";
import { createGuests, refused } from "./guests.ts";
import { createPayerLimits, type Outlay } from "./payer-limits.ts";
import { createScreening } from "./screening.ts";

/** The shop's rules about buyers: `deny`, `allow`, `screen` and `limits.per_payer` of `_site.yaml`. */
export interface HouseRules {
  /**
   * Calls `buy` if the rules allow the payer to buy. Answers that were bought before can be fetched in any case.
   * @throws Problem `buyer-refused`, `rate-limited`, `unavailable` before anything runs or is charged; and what `buy`
   * throws.
   */
  during(purchase: VerifiedPurchase, buy: () => Promise<Outcome>): Promise<Outcome>;
  /** As `during`, for a refused payment that is settled again: its price was given back. `settle` returns what is on record. */
  duringRetry(key: string, record: PaymentRecord, settle: () => Promise<PaymentRecord>): Promise<PaymentRecord>;
  /** Gives the price of a payment back that was refused after its outcome had been unknown. */
  refusedLate(key: string, record: PaymentRecord): void;
  /** Takes the price of a payment that was refused, and has moved all the same. */
  moved(key: string, record: PaymentRecord): void;
  /**
   * Checks a wallet that has signed in. @throws Problem `buyer-refused`, `unavailable`; `rate-limited` when too many
   * wallets that have bought nothing were screened on this day.
   */
  admit(wallet: string, hasBought: () => Promise<boolean>, signal: AbortSignal): Promise<void>;
}

export interface HouseRulesDeps {
  readonly site: Pick<SiteManifest, "deny" | "allow" | "screen" | "limits">;
  /** The services, retired ones before those that have their ids now. */
  readonly services: readonly Service[];
  readonly rails: readonly Rail[];
  readonly usdOf: UsdOf;
  /** How many wallets that have bought nothing are screened in a day: they cost nothing, and screenings may. */
  readonly mostPerDay: number;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
}

export function createHouseRules(deps: HouseRulesDeps): HouseRules {
  const { site, services, rails, usdOf, mostPerDay, store, clock, log } = deps;
  const guests = createGuests(site);
  const { screen, limits } = site;
  const service = services.findLast(({ manifest }) => manifest.id === screen?.service);
  const screening = screen && createScreening({ terms: screen, service, store });
  const payerLimits = limits.per_payer && createPayerLimits({ terms: limits.per_payer, store, clock });

  const notCounted = (error: unknown): void => log.warn("payer-limit.not-counted", { error });
  const notReturned = (error: unknown): void => log.warn("payer-limit.not-returned", { error });

  return {
    during(purchase, buy) {
      const { key, service, invocation, payment, offer } = purchase;
      const terms = { key, offer, payment, usd: usdOf(purchase), service: service.manifest.id };
      const buyer = { ...terms, wallets: walletsOf(purchase), signal: invocation.signal };
      return underRules(buyer, buy, ({ kind }) => kind === "result");
    },
    duringRetry(key, record, settle) {
      const { payment, service, sold } = record;
      const terms = { key, offer: payment.accepted, payment, usd: sold?.usd ?? "0", service };
      const buyer = { ...terms, wallets: walletsOf(record), signal: new AbortController().signal };
      return underRules(buyer, settle, ({ state }) => state !== "rejected");
    },
    refusedLate(key, record) {
      payerLimits?.giveBack(toOutlay(key, record)).catch(notReturned);
    },
    moved(key, record) {
      payerLimits?.add(toOutlay(key, record)).catch(notCounted);
    },
    admit: (wallet, hasBought, signal) => check([wallet], { signal, before: () => takeScreening(wallet, hasBought) }),
  };

  /** @param isCharged whether the money has moved, or may have, with this result */
  async function underRules<T>(buyer: Buyer, work: () => Promise<T>, isCharged: (result: T) => boolean): Promise<T> {
    const { key, wallets, offer, usd: price } = buyer;
    await check(wallets, { ...buyer, ownersOf: () => ownersOf(buyer) });
    // Buyers whose wallet is unknown share one budget per network.
    const giveBack = await payerLimits?.take({ key, wallet: wallets[0] ?? offer.network, price });
    let mayBeCharged = true;
    try {
      const result = await work();
      mayBeCharged = isCharged(result);
      return result;
    } catch (error) {
      mayBeCharged = MAY_BE_CHARGED.includes(Problem.from(error).code);
      throw error;
    } finally {
      if (!mayBeCharged) await giveBack?.().catch(notReturned);
    }
  }

  async function check(wallets: readonly string[], terms: CheckTerms): Promise<void> {
    const { signal, service, ownersOf, before } = terms;
    try {
      guests.check(wallets);
      const all = [...new Set([...wallets, ...((await ownersOf?.()) ?? [])])];
      guests.check(all);
      const giveBack = await before?.();
      await screening?.check(all, signal).catch(async (error: unknown) => {
        const hasFailed = Problem.from(error).code !== "buyer-refused" && !signal.aborted;
        if (hasFailed) await giveBack?.().catch(notReturned);
        throw error;
      });
    } catch (error) {
      if (Problem.from(error).code === "buyer-refused") log.warn("buyer.refused", { service, payer: wallets[0] });
      throw error;
    }
  }

  /**
   * Counts a wallet that has signed in and has to be screened. @returns what takes that back, for as many a day at most:
   * what fails may cost something, too.
   * @throws Problem `rate-limited` when it has bought nothing.
   */
  async function takeScreening(wallet: string, hasBought: () => Promise<boolean>): Promise<GiveBack | undefined> {
    if (!screening || (await screening.isKnown(wallet))) return undefined;
    const day = Math.floor(clock.now() / DAY_MS);
    const add = (name: string, by: number) => store.incr(`${name}:${day}`, by, DAY_MS + MARGIN_MS, "lazy");
    const giveBack = async (): Promise<void> => {
      if ((await add("screened-in-vain", 1)) <= mostPerDay) await add("screened-free", -1);
    };
    if ((await add("screened-free", 1)) <= mostPerDay || (await hasBought())) return giveBack; // A list of purchases takes many reads.
    const retryAfter = Math.ceil(((day + 1) * DAY_MS - clock.now()) / 1000);
    throw new Problem("rate-limited", "No more wallets that have bought nothing are screened today (UTC)", {
      retryAfter,
    });
  }

  /** The wallet whose money a payment moves, where another one may have signed for it. */
  async function ownersOf({ wallets, offer, payment }: Buyer): Promise<readonly string[]> {
    const isAsked = wallets.length > 0 && (guests.isListed || screening !== undefined);
    const ownerOf = isAsked ? railOf(rails, offer)?.ownerOf : undefined;
    if (!ownerOf) return [];
    const owner = await ownerOf(payment.payload).catch((cause: unknown) => {
      throw new Problem("unavailable", "Whose money this is cannot be read now; nothing was charged", { cause });
    });
    if (owner === undefined) throw refused();
    return [owner];
  }
}

const DAY_MS = 24 * 60 * 60_000;
/** Counters are kept longer than their day, since the clocks of processes differ. */
const MARGIN_MS = 60 * 60_000;

type GiveBack = () => Promise<void>;

interface CheckTerms {
  readonly signal: AbortSignal;
  readonly service?: string;
  /** Further wallets that must pass. */
  readonly ownersOf?: () => Promise<readonly string[]>;
  /** Called before a wallet is screened. @returns what takes that back where the screening fails */
  readonly before?: () => Promise<GiveBack | undefined>;
}

interface Buyer {
  /** The payment's key. */
  readonly key: string;
  readonly wallets: readonly string[];
  readonly offer: PaymentRequirements;
  readonly payment: Pick<Payment, "payload">;
  /** US dollars, decimal text. */
  readonly usd: string;
  readonly service: string;
  readonly signal: AbortSignal;
}

/** The wallets of a payment: its signer, and the payer that the facilitator reports. */
const walletsOf = ({ payer, reported }: Partial<Pick<VerifiedPurchase, "payer" | "reported">>): readonly string[] => [
  ...new Set([payer, reported].filter((wallet) => wallet !== undefined)),
];

const toOutlay = (key: string, { payer, payment, sold }: PaymentRecord): Outlay => ({
  key,
  wallet: payer ?? payment.accepted.network,
  price: sold?.usd ?? "0",
});
