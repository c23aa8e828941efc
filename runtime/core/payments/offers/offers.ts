import { Problem } from "../../../api/problem.ts";
import type { Invocation } from "../../call.ts";
import { sha256 } from "../../digest.ts";
import { isSameAddress } from "../../rails/tokens.ts";
import { type Service, toGone } from "../../service.ts";
import type { SiteManifest } from "../../set/manifest.ts";
import { amountOn } from "../../set/price.ts";
import { isPathOf } from "../../set/route.ts";
import {
  type Challenge,
  createChallenge,
  HEAD_BYTES,
  NOT_SIGNED_IN,
  roomIn,
  toResource,
  UNPAID,
} from "../../x402/challenge.ts";
import type { Proofs } from "../../x402/proofs.ts";
import { hasRail, isOffered, type Rail, type RailStatus, settlesIn } from "../../x402/rails.ts";
import type { Payment, Refusal } from "../../x402/read-payment.ts";
import type { PaymentRequired, PaymentRequirements } from "../../x402/x402.ts";
import type { OfferHistory } from "./history.ts";

/** The current offers of each service, and the earlier ones that may still be paid. */
export interface Offers {
  /** The current offers of a paid service at a door, in the site's order; empty while no rail is up. */
  of(service: Service, networks?: DoorNetworks): readonly PaymentRequirements[];
  /**
   * The 402 of a paid service. Without an error it is built once and reused.
   * @throws Problem `unavailable` while no rail is up: a priced service is never free; `gone` for a retired one.
   */
  challenge(service: Service, resource: string, terms?: ChallengeTerms): Challenge;
  /**
   * Describes what is sold; facilitators list the service by it when they see a payment. Always our own text: the copy
   * that a payer echoes is never passed on.
   */
  describe(service: Service, resource: string): Pick<PaymentRequired, "resource" | "extensions">;
  /** The offer that a payment was made for, current or earlier and not yet expired; or the reason why there is none. */
  match(
    service: Service,
    payment: Payment,
    door: Pick<Invocation, "resource" | "networks">,
  ): Promise<PaymentRequirements | Refusal>;
  /** The service with what an offer has promised: it can still be paid when failed jobs are not paid back any more. */
  pin<S extends Service>(service: S, offer: PaymentRequirements): S;
  /** Sets which rails are up. Resolves once the new offers are on record; none is made before. */
  update(statuses: ReadonlyMap<string, RailStatus>): Promise<void>;
  /** Keeps the offers on record no longer: they can be paid for their usual time. */
  close(): void;
}

type DoorNetworks = Invocation["networks"];

export interface ChallengeTerms extends Pick<Invocation, "networks"> {
  /** Why a payment was refused. */
  readonly error?: string | undefined;
}

export interface OffersDeps {
  readonly site: SiteManifest;
  readonly services: readonly Service[];
  readonly rails: readonly Rail[];
  readonly history: OfferHistory;
  /** The public base URL; by default the origin of each door. */
  readonly baseUrl?: string | undefined;
  readonly extensionsOf?: ExtensionsOf | undefined;
  /** The challenge's sign-in extension, with a new nonce each time (x402 extension `sign-in-with-x`). */
  readonly declareSignIn?: (() => Readonly<Record<string, unknown>>) | undefined;
  /** Signs offers, in the full form of challenges; when omitted, offers are not signed. */
  readonly proofs?: Pick<Proofs, "offers"> | undefined;
}

/**
 * The `extensions` of a challenge (x402-specification-v2, section 5.1.2). `resource` is the URL of the door. With
 * `room` (bytes of JSON), the short form that fits it; both forms contain everything that buyers must echo.
 */
export type ExtensionsOf = (
  service: Service,
  resource: string,
  room?: number,
) => Readonly<Record<string, unknown>> | undefined;

export function createOffers(deps: OffersDeps): Offers {
  const { site, services, rails, history, extensionsOf, declareSignIn, proofs } = deps;
  let current: ReadonlyMap<string, readonly PaymentRequirements[]> = new Map();
  /** By service and door. The same list each time, so that its signatures, which name the door, are reused. */
  let listed = new Map<string, readonly PaymentRequirements[]>();
  let cached = new Map<string, { readonly challenge: Challenge; readonly proof: object | undefined }>();
  const offered = services.filter(({ isRetired }) => !isRetired);
  const offering = rails.filter(isOffered);
  /** A door that names its networks (MCP) settles in dollars. */
  const retiredDollars = rails.filter(({ manifest, isRetired }) => isRetired && manifest.currency === "usd");
  const isTaken = (offer: PaymentRequirements, networks: DoorNetworks): boolean =>
    networks === undefined || hasRail(retiredDollars, offer) || settlesIn(offering, offer, networks);
  const of: Offers["of"] = (service, networks) => {
    const offers = service.isRetired ? [] : (current.get(service.manifest.id) ?? []);
    return networks ? offers.filter((offer) => isTaken(offer, networks)) : offers;
  };

  /** Keyed by service and door; the set bounds their number. */
  const descriptions = new Map<string, ReturnType<Offers["describe"]>>();
  const paths = new Map<string, string>();

  const describe: Offers["describe"] = (service, resource) => {
    const key = `${service.manifest.id} ${resource}`;
    const known = descriptions.get(key);
    if (known) return known;
    const extensions = extensionsOf?.(service, resource);
    const { baseUrl = new URL(resource).origin } = deps;
    const sold = toResource(service.manifest, site, resource, baseUrl);
    const made = { resource: sold, ...(extensions && { extensions }) };
    descriptions.set(key, made);
    return made;
  };

  const pathOfDoor = (resource: string): string => {
    const path = paths.get(resource) ?? pathOf(resource);
    paths.set(resource, path);
    return path;
  };

  /** Prefers an exact match of `extra`, then the current offer. */
  async function find(service: Service, payment: Payment, networks: DoorNetworks) {
    const made = of(service, networks).filter((offer) => fits(offer, payment));
    const current = made.find((offer) => isEcho(offer, payment));
    if (current) return current;
    const { network, authorization, accepted } = payment;
    const amount = authorization.amount?.toString() ?? accepted?.amount ?? "";
    const known = await history.earlier(service.manifest.id, { network, amount });
    // A token without a rail is not taken any more: another rail's decimals, price and facilitator do not fit it.
    const earlier = known.filter((offer) => fits(offer, payment) && hasRail(rails, offer) && isTaken(offer, networks));
    return earlier.find((offer) => isEcho(offer, payment)) ?? made[0] ?? earlier[0];
  }

  return {
    of,
    describe,
    challenge(service, resource, { error, networks } = {}) {
      if (service.isRetired) throw toGone(service, error);
      const key = [service.manifest.id, resource, ...(networks ?? [])].join(" ");
      const known = error === undefined ? cached.get(key) : undefined;
      if (known && (!proofs || known.proof === proofs.offers(resource, known.challenge.required.accepts)))
        return known.challenge;
      const { price, free, sign_in: needsSignIn } = service.manifest;
      const fresh = (free || needsSignIn) && declareSignIn ? { "sign-in-with-x": declareSignIn() } : undefined;
      const accepts = listed.get(key) ?? [...of(service, networks)];
      listed.set(key, accepts);
      if (accepts.length === 0 && price !== undefined)
        throw new Problem("unavailable", "No payment rail is up", { retryAfter: 10 });
      const { resource: sold, extensions } = describe(service, resource);
      const why = error ?? (price === undefined ? NOT_SIGNED_IN : UNPAID);
      const bare = { x402Version: 2 as const, error: why, resource: sold, accepts };
      const room = roomIn(site.limits.head_bytes ?? HEAD_BYTES, bare) - (fresh ? JSON.stringify(fresh).length : 0);
      const lean = extensionsOf?.(service, resource, room);
      const proof = price === undefined ? undefined : proofs?.offers(resource, accepts);
      const challenge = createChallenge({ ...bare, extensions: { ...extensions, ...fresh, ...proof } }, site.rails, {
        ...bare,
        extensions: { ...lean, ...fresh },
      });
      if (error === undefined && !fresh) cached.set(key, { challenge, proof });
      return challenge;
    },
    async match(service, payment, { resource, networks }) {
      const earlier = (networks ? retiredDollars : rails).map(({ manifest }) => manifest.network);
      if (![...(networks ?? []), ...earlier].includes(payment.network)) return "unsupported_network";
      const { resourceUrl } = payment;
      const door = pathOfDoor(resource);
      const isNamed = resourceUrl !== undefined; // Perhaps by the URL that was called, with values in its path.
      if (isNamed && resourceUrl !== resource && !isPathOf(pathOf(resourceUrl), door)) return "wrong_resource";
      const offer = await find(service, payment, networks);
      if (!offer) return "no_matching_offer";
      // The payment names this door, below the path of the base URL. A door that many services share does not name the
      // service, and a version 1 payment names neither.
      const offerId = payment.accepted?.extra?.offerId ?? undefined; // Null names nothing.
      const bound =
        (isNamed && door.endsWith(encodeURI(service.path))) || offerId !== undefined || payment.x402Version === 1;
      return bound ? offer : "wrong_resource";
    },
    pin(service, offer) {
      const { manifest, job } = service;
      const isKept = offer.extra.offerId === toOfferId({ id: manifest.id, isKept: true }, offer);
      if (!job || job.manifest.refund || isKept) return service;
      return { ...service, job: { ...job, manifest: { ...job.manifest, refund: true } } };
    },
    async update(statuses) {
      const next = new Map(
        offered.map((service) => [service.manifest.id, toOffers(service, site, offering, statuses)]),
      );
      await history.publish(next);
      current = next;
      listed = new Map();
      cached = new Map();
    },
    close: history.close,
  };
}

function toOffers(
  { manifest }: Service,
  site: SiteManifest,
  rails: readonly Rail[],
  statuses: ReadonlyMap<string, RailStatus>,
): PaymentRequirements[] {
  const { price } = manifest;
  if (price === undefined) return [];
  return rails.flatMap((rail) => {
    const status = statuses.get(rail.manifest.id);
    const amount = amountOn(rail.manifest, price, site)?.toString();
    if (status?.state !== "up" || amount === undefined) return [];
    const { network, asset, domain } = rail.manifest;
    const { payTo } = rail;
    const isKept = manifest.job?.refund === false;
    const offerId = toOfferId({ id: manifest.id, isKept }, { network, asset, amount, payTo });
    const extra = { ...status.extra, ...domain, offerId }; // What is signed for is the site's, not the facilitator's.
    return [{ scheme: "exact", network, asset, amount, payTo, maxTimeoutSeconds: site.limits.offer_seconds, extra }];
  });
}

/** @param of a service's id, and whether the price of its failed jobs is kept */
const toOfferId = (
  of: { readonly id: string; readonly isKept: boolean },
  { network, asset, amount, payTo }: Pick<PaymentRequirements, "network" | "asset" | "amount" | "payTo">,
): string => {
  const terms = [of.id, network, asset, amount, payTo, ...(of.isKept ? ["kept"] : [])];
  return sha256(terms.join(" ")).slice(0, 16);
};

/** A v2 payment names its offer. A v1 payment names only the network: the signed amount and recipient must match. */
function fits(offer: PaymentRequirements, { accepted, authorization, scheme, network }: Payment): boolean {
  if (offer.scheme !== scheme || offer.network !== network) return false;
  if (authorization.amount !== undefined && authorization.amount !== BigInt(offer.amount)) return false;
  if (authorization.payTo !== undefined && authorization.payTo !== offer.payTo.toLowerCase()) return false;
  if (!accepted) return true;
  if (offer.amount !== accepted.amount || offer.maxTimeoutSeconds !== accepted.maxTimeoutSeconds) return false;
  const same = (["asset", "payTo"] as const).every((key) => isSameAddress(network, offer[key], accepted[key]));
  return same && (accepted.extra?.offerId ?? offer.extra.offerId) === offer.extra.offerId;
}

/**
 * Whether the payment's `extra` equals the offer's; objects are ignored. Facilitators may change `feePayer` each time.
 */
const isEcho = ({ extra }: PaymentRequirements, { accepted }: Payment): boolean =>
  Object.entries(extra).every(
    ([name, value]) => typeof value === "object" || (accepted?.extra?.[name] ?? value) === value,
  );

const pathOf = (url: string): string => URL.parse(url)?.pathname ?? url;
