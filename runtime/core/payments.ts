import type { Clock, Log } from "../api/capabilities.ts";
import { Problem } from "../api/problem.ts";
import { createInvoke, type Invoke } from "./invoke.ts";
import type { InvokeDeps } from "./invoke-deps.ts";
import type { Jobs } from "./jobs/jobs.ts";
import { createJobRecords } from "./jobs/records.ts";
import { type CallCounters, countCalls } from "./payments/count-calls.ts";
import { createCredits } from "./payments/credits.ts";
import { createExposure } from "./payments/exposure.ts";
import { createIdentifiers } from "./payments/identifiers/identifiers.ts";
import { createOfferHistory } from "./payments/offers/history.ts";
import { createOffers, type ExtensionsOf, type Offers } from "./payments/offers/offers.ts";
import { createUsdOf, payerOf } from "./payments/purchase.ts";
import { createRailMonitor, type RailMonitor } from "./payments/rail-monitor.ts";
import { createReconciler, type ReconcilerDeps } from "./payments/reconciler.ts";
import { createReservations, type Reservations } from "./payments/reservations.ts";
import { createSaleOf } from "./payments/sale-of.ts";
import { createFormerOf, createHasSold, createSellerOf, createSoldBy } from "./payments/seller-of.ts";
import { createSettler, type SettlerDeps } from "./payments/settlement.ts";
import { createStanding } from "./payments/standing.ts";
import { createTrials, type Trials } from "./payments/trials.ts";
import { createFacilitatorTrust, type FacilitatorTrust } from "./payments/trust.ts";
import { askReady, onBehalf } from "./perform.ts";
import { facilitatorsOf } from "./rails/facilitators.ts";
import { createRefunds, type Refunds } from "./refunds/refunds.ts";
import { createHouseRules } from "./rules/rules.ts";
import type { Service } from "./service.ts";
import type { SiteManifest } from "./set/manifest.ts";
import { toAtomic } from "./set/price.ts";
import type { Store } from "./store.ts";
import type { TraceStep } from "./trace.ts";
import { createFreeCalls } from "./wallets/free-calls.ts";
import { createMembers } from "./wallets/members.ts";
import { createPurchaseList } from "./wallets/purchases.ts";
import type { SignIns } from "./wallets/sign-in.ts";
import type { Proofs } from "./x402/proofs.ts";
import { isOffered, type Rail, type RailStatus, railOf } from "./x402/rails.ts";
import { createStalls, type Stalls } from "./x402/stalls.ts";

/** The parts of the payment process, composed. */
export interface Payments {
  readonly invoke: Invoke;
  readonly offers: Offers;
  readonly rails: RailMonitor;
  /** Which services rest because their paid work keeps failing. */
  readonly trials: Trials;
  readonly stalls: Pick<Stalls, "warnings">;
  /**
   * Whether a payment is on record. @param key `<network>:<payer>:<nonce>`, the network and `Payment.authorization.id`
   */
  isKnown(key: string): Promise<boolean>;
  /** Asks the rails and records the offers. Calls can be served afterwards. */
  prepare(): Promise<void>;
  /** Runs `prepare` unless that is done, and resumes what an earlier process left open. */
  start(): Promise<void>;
  /** Resumes what another process, or an earlier set of this process, left open. */
  sweep(): void;
  /** Starts no more background work, and waits for the running work. Calls are still served. */
  drain(): Promise<void>;
  /** Stops all background work; open payments stay on record. */
  close(): void;
}

export interface PaymentsDeps {
  readonly site: SiteManifest;
  readonly services: readonly Service[];
  /** Retired rails come last. */
  readonly rails: readonly Rail[];
  /** Earlier statuses of rails by id: a rail that was up stays up while its facilitator is silent. */
  readonly knownRails?: ReadonlyMap<string, RailStatus> | undefined;
  /** Required when a service is a job. */
  readonly jobs?: Pick<Jobs, "reserve" | "begin"> | undefined;
  /** Refunds what was paid first and not delivered; when omitted, the operator refunds by hand. */
  readonly refunds?: Pick<Refunds, "open" | "status"> | undefined;
  /** @throws Problem `unavailable` when a service that is paid first is known to be failing. */
  readonly checkReady?: ((service: Service) => void) | undefined;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** The public base URL; by default the origin of each door. */
  readonly baseUrl?: string;
  readonly extensionsOf?: ExtensionsOf | undefined;
  /** Signs offers and receipts; when omitted, neither is signed. */
  readonly proofs?: Proofs | undefined;
  /** When omitted, wallets cannot sign in. */
  readonly signIns?: SignIns | undefined;
  /** Traces the steps of calls; when omitted, they are not traced. */
  readonly trace?: TraceStep | undefined;
  /** Counters of calls; when omitted, calls are not counted. */
  readonly counters?: CallCounters | undefined;
  /** The digest of the set, for the book. */
  readonly setDigest?: string | undefined;
  /** Called with settled calls that named an exchange between peers. */
  readonly onSettled?: InvokeDeps["onSettled"];
  /** Which facilitators are trusted; when omitted, read from the store. */
  readonly trust?: FacilitatorTrust | undefined;
  /** Timeouts of facilitators and chains. */
  readonly patience?: Pick<SettlerDeps, "settleMs" | "confirmMs"> & Pick<ReconcilerDeps, "confirmAfterMs" | "claimMs">;
}

export function createPayments(deps: PaymentsDeps): Payments {
  const { site, services, rails, jobs = NO_JOBS, store, clock, log, extensionsOf, onSettled, patience } = deps;
  const { signIns = NO_SIGN_INS, baseUrl, proofs } = deps;
  const report = (event: string) => (error: unknown) => log.error(event, { error });
  const {
    offer_seconds: offerSeconds,
    calls_per_payer: mostCalls = 64,
    confirm_above_usd: confirmFrom = "1",
    free_per_day: mostPerDay = 1000,
    answers_minutes: answersMinutes = 0,
  } = site.limits;
  const history = createOfferHistory({ store, offerSeconds, onError: report("offers.renewal-failed") });
  const declareSignIn = deps.signIns?.declare;
  const offers = createOffers({ site, services, rails, history, baseUrl, extensionsOf, declareSignIn, proofs });
  const manifests = rails.map(({ manifest }) => manifest);
  const { trust = createFacilitatorTrust({ site: { ...site, rails: manifests }, store, clock, log }) } = deps;
  const monitor = createRailMonitor({
    rails: rails.filter(isOffered),
    known: deps.knownRails,
    trust,
    onChange: offers.update,
    onError: report("rails.update-failed"),
    clock,
  });
  let preparing: Promise<void> | undefined;
  const prepare = (): Promise<void> => {
    preparing ??= monitor.start();
    return preparing;
  };
  const answersMs = answersMinutes * 60_000;
  const saleOf = createSaleOf(rails);
  const kept = createReservations({ store, clock, saleOf, answersMs, onError: report("payment.lease-failed") });
  const { trace = (_step, work) => work() } = deps;
  const reservations: Reservations = {
    ...kept,
    claimPayment: (key) => trace("reserve", () => kept.claimPayment(key)),
    begin: (key, record) => trace("record", () => kept.begin(key, record)),
  };
  const stalls = createStalls(clock);
  const settler = createSettler({ rails, log, stalls, ...patience });
  const checkTrust: InvokeDeps["checkTrust"] = (offer) => {
    const rail = railOf(rails, offer)?.manifest;
    const reason = rail && trust.reasonAgainstAll(rail);
    if (reason) throw new Problem("facilitator-unavailable", `${reason}; nothing was charged`, { retryAfter: 60 });
  };
  const formerOf = createFormerOf(services);
  const identifiers = createIdentifiers({
    store,
    rails,
    reservations,
    soldBy: createSoldBy(formerOf, reservations),
    look: settler.look,
    checkTrust,
    clock,
    answersMs,
    onError: report("payment.lease-failed"),
  });
  const records = createJobRecords({ store, clock });
  const refunds = deps.refunds ?? createRefunds({ store, clock, log, screenRecipient: async () => "clear" });
  const trials = createTrials({ services, clock, log });
  const credits = createCredits({ services, reservations, records, refunds, trials, clock, log });
  const onClaim: ReconcilerDeps["onClaim"] = (key, { payment }, { isTrue, by, transaction, at }) => {
    const claim = { payment: key, transaction };
    if (isTrue) return trust.restore(claim);
    const rail = railOf(rails, payment.accepted)?.manifest;
    const facilitator = by ?? (rail && facilitatorsOf(rail, site)[0]);
    if (rail && facilitator) trust.withdraw({ ...claim, facilitator, network: rail.network, claimedAt: at });
  };
  const standing = createStanding(store);
  const exposure = createExposure({ rails, store, clock, mostCalls, onError: report("payment.tally-failed") });
  const onKnownLate: ReconcilerDeps["onKnownLate"] = (key, record) => {
    const { state, payer, payment } = record;
    if (state === "rejected") {
      rules.refusedLate(key, record);
      standing.refusedLate(record).catch(report("payer.trusted-again"));
    } else if (payer !== undefined) {
      exposure.spentLate({ key, payer, offer: payment.accepted, payment });
      void purchases.placeLate(key, record);
    }
  };
  const usdOf = createUsdOf(rails, site);
  const rules = createHouseRules({ site, services, rails, usdOf, mostPerDay, store, clock, log });
  const told = { beginJob: jobs.begin, onClaim, onKnownLate, duringRetry: rules.duringRetry, onMoved: rules.moved };
  const reconciler = createReconciler({ reservations, settler, credits, clock, log, ...told, ...patience });
  const confirmAbove = toAtomic(confirmFrom, PRICE_DECIMALS);
  const purchases = createPurchaseList({ store, clock, onError: report("purchase.not-listed") });
  const sellerOf = createSellerOf(formerOf, reservations);
  const freeCalls = createFreeCalls({ store, clock, mostPerDay });
  const invoke = createInvoke({
    members: createMembers({ signIns, freeCalls, offers, rules, purchases }),
    rules,
    proofs,
    placeBought: purchases.place,
    rails,
    offers,
    jobs,
    reservations,
    sellerOf,
    hasSold: createHasSold(sellerOf, reservations),
    identifiers,
    settler,
    reconciler,
    credits,
    exposure,
    standing,
    clock,
    log,
    termsOf: (purchase) => ({ rail: railOf(rails, purchase.offer) as Rail, usd: usdOf(purchase), set: deps.setDigest }),
    mustConfirm: (usd) => toAtomic(usd, PRICE_DECIMALS) >= confirmAbove,
    checkTrust,
    async checkReady({ service, invocation, input, offer, fault }, payer) {
      if (fault !== undefined) throw fault; // Work would be refused after the charge, and paid back.
      deps.checkReady?.(service);
      trials.enter(service, payer && payerOf(payer, offer));
      await onBehalf(invocation, () => askReady(service, input, invocation.signal));
    },
    onSettled,
  });
  return {
    invoke: deps.counters ? countCalls(invoke, { ...deps.counters, clock }) : invoke,
    offers,
    rails: monitor,
    trials,
    stalls,
    isKnown: async (key) => (await reservations.read(key)) !== undefined,
    prepare,
    async start() {
      await prepare();
      reconciler.start();
    },
    sweep: reconciler.sweep,
    drain: reconciler.drain,
    close() {
      for (const part of [monitor, reconciler, reservations, identifiers, offers]) part.close();
    },
  };
}

/** More decimals than any price has. */
const PRICE_DECIMALS = 18;

const NO_SIGN_INS: SignIns = { declare: () => ({}), verify: async () => "no wallet can sign in here" };

const NO_JOBS: Pick<Jobs, "reserve" | "begin"> = {
  reserve: () => Promise.reject(new TypeError("no jobs are taken here")),
  begin: () => Promise.reject(new TypeError("no jobs are taken here")),
};
