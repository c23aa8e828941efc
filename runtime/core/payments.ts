import type { Clock, Log } from "../api/capabilities.ts";
import { createInvoke, type Invoke, type InvokeDeps } from "./invoke.ts";
import type { Jobs } from "./jobs/jobs.ts";
import { createOfferHistory } from "./payments/offer-history.ts";
import { createOffers, type ExtensionsOf, type Offers } from "./payments/offers.ts";
import { createRailMonitor, type RailMonitor } from "./payments/rail-monitor.ts";
import { createReconciler } from "./payments/reconciler.ts";
import { createReservations } from "./payments/reservations.ts";
import { createSettler, type SettlerDeps } from "./payments/settlement.ts";
import type { Service } from "./service.ts";
import type { SiteManifest } from "./set/manifest.ts";
import type { Store } from "./store.ts";
import type { Rail } from "./x402/rails.ts";

/** Everything that has to do with money, put together. */
export interface Payments {
  readonly invoke: Invoke;
  readonly offers: Offers;
  readonly rails: RailMonitor;
  /** Asks the rails, puts the offers on record and takes up what an earlier process left open. */
  start(): Promise<void>;
  /** Stops all background work; what is open stays on record. */
  close(): void;
}

export interface PaymentsDeps {
  readonly site: SiteManifest;
  readonly services: readonly Service[];
  readonly rails: readonly Rail[];
  /** Left out where no service is a job. */
  readonly jobs?: Pick<Jobs, "reserve" | "begin"> | undefined;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** What challenges say beyond the protocol. */
  readonly extensionsOf?: ExtensionsOf | undefined;
  /** Told of settled calls that named an exchange between peers. */
  readonly onSettled?: InvokeDeps["onSettled"];
  /** How long a facilitator may take. */
  readonly patience?: Pick<InvokeDeps, "verifyMs"> & Pick<SettlerDeps, "settleMs">;
}

export function createPayments(deps: PaymentsDeps): Payments {
  const { site, services, rails, jobs = NO_JOBS, store, clock, log, extensionsOf, onSettled, patience } = deps;
  const report = (event: string) => (error: unknown) => log.error(event, { error });
  const { offer_seconds: offerSeconds } = site.limits;
  const history = createOfferHistory({ store, clock, offerSeconds, onError: report("offers.renewal-failed") });
  const offers = createOffers({ site, services, rails, history, extensionsOf });
  const monitor = createRailMonitor({ rails, onChange: offers.update, onError: report("rails.update-failed") });
  const reservations = createReservations({ store, clock, onError: report("payment.lease-failed") });
  const settler = createSettler({ rails, log, ...patience });
  const reconciler = createReconciler({ reservations, settler, clock, log, beginJob: jobs.begin });
  return {
    invoke: createInvoke({
      rails,
      offers,
      jobs,
      reservations,
      settler,
      reconciler,
      clock,
      log,
      onSettled,
      ...patience,
    }),
    offers,
    rails: monitor,
    async start() {
      await monitor.start();
      reconciler.start();
    },
    close() {
      for (const part of [monitor, reconciler, reservations, history]) part.close();
    },
  };
}

const NO_JOBS: Pick<Jobs, "reserve" | "begin"> = {
  reserve: () => Promise.reject(new TypeError("no jobs are taken here")),
  begin: () => Promise.reject(new TypeError("no jobs are taken here")),
};
