import type { Clock } from "../../api/capabilities.ts";
import type { Manifest } from "../set/manifest.ts";
import type { Store } from "../store.ts";
import type { SignedInWallet } from "./sign-in.ts";

/**
 * The free calls of a service (`free` in its manifest), counted in the store for all processes: per wallet, and for the
 * whole site, since anybody can create wallets.
 */
export interface FreeCalls {
  /**
   * Takes a free call. Returns a function that gives the call back to the wallet when it fails; or a sentence when none
   * is left. Failed calls cost the seller, too: a wallet may begin at most three times its free calls, and for the site
   * every call counts.
   */
  take(service: string, free: FreeTerms, wallet: SignedInWallet): Promise<(() => Promise<void>) | string>;
}

export interface FreeCallsDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** How many free calls all wallets together get per day, over all services. */
  readonly mostPerDay: number;
}

type FreeTerms = NonNullable<Manifest["free"]>;

const PERIOD_MS = { hour: 60 * 60_000, day: 24 * 60 * 60_000 } as const;
const BEGUN_PER_CALL = 3;
/** Counters are kept longer than their period, since the clocks of processes differ. */
const MARGIN_MS = 60 * 60_000;

export function createFreeCalls({ store, clock, mostPerDay }: FreeCallsDeps): FreeCalls {
  /** The name of the counter of the current hour or day (UTC). */
  const keyOf = (name: string, per: keyof typeof PERIOD_MS): string =>
    `free:${name}:${Math.floor(clock.now() / PERIOD_MS[per])}`;
  const countIn = (name: string, per: keyof typeof PERIOD_MS): ((by: number) => Promise<number>) => {
    const key = keyOf(name, per);
    return (by) => store.incr(key, by, PERIOD_MS[per] + MARGIN_MS);
  };

  return {
    async take(service, { calls, per }, wallet) {
      // Before anything is kept for the wallet: wallets cost nothing.
      if (((await store.get<number>(keyOf("site", "day"))) ?? 0) >= mostPerDay) return SITE_USED;
      const ofWallet = countIn(`${service}:${wallet.id}`, per);
      const begunByWallet = countIn(`${service}:${wallet.id}:begun`, per);
      const giveBack = async (): Promise<void> => void (await ofWallet(-1));
      if ((await ofWallet(1)) > calls) {
        await giveBack();
        const used = calls === 1 ? "free call of this wallet is used" : `${calls} free calls of this wallet are used`;
        return `the ${used} until the next ${per} (UTC)`;
      }
      try {
        if ((await begunByWallet(1)) > BEGUN_PER_CALL * calls) {
          await giveBack();
          return `too many free calls of this wallet have failed; there are more in the next ${per} (UTC)`;
        }
        if ((await countIn("site", "day")(1)) <= mostPerDay) return giveBack;
      } catch (error) {
        await giveBack().catch(() => {}); // Without the store, the call counts.
        throw error;
      }
      await Promise.all([giveBack(), begunByWallet(-1)]);
      return SITE_USED;
    },
  };
}

const SITE_USED = "all free calls of this site are used until tomorrow (UTC)";
