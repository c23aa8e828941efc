import type { Clock } from "../../../api/capabilities.ts";
import { isObject } from "../../../core/json.ts";
import { PATHS } from "../../../core/paths.ts";
import { type Envelope, PEER_METHODS, type PeerMethod } from "../../../core/peers/envelope.ts";
import { type Exchanges, toExchangeId } from "../../../core/peers/exchanges.ts";
import type { Identity } from "../../../core/peers/identity.ts";
import { PEER_POLICY } from "../../../core/peers/policy.ts";
import { signPayload } from "../../../core/peers/signature.ts";
import type { Service } from "../../../core/service.ts";
import { didYouMean } from "../../../core/set/did-you-mean.ts";
import type { SiteManifest } from "../../../core/set/manifest.ts";
import { type A2aRefusal, PEER_CODES, refuse } from "../errors.ts";
import { toCapability, toX402Block } from "../skills.ts";
import { PEER_SIGNATURE, POLICY_DIGEST, toNamespace } from "./block.ts";
import { toReceipt } from "./receipt.ts";

export interface PeerMethodsOptions {
  readonly services: ReadonlyMap<string, Service>;
  readonly site: Pick<SiteManifest, "name" | "rails">;
  /** The public base URL, without a trailing slash; peers must name it as `audience`. */
  readonly baseUrl: string;
  /** The URL of this door. */
  readonly endpoint: string;
  /** Who settles payments: a URL or a name, as shown to peers. */
  readonly facilitator: string;
  readonly identity: Identity;
  readonly exchanges: Exchanges;
  readonly clock: Clock;
}

/** Answers a request whose signature was verified. */
export type PeerMethods = (method: PeerMethod, envelope: Envelope) => Promise<object | A2aRefusal>;

const INSTRUCTIONS =
  "Call url with an x402 payment and the header X-A2A-Exchange: <exchange_id>. Its 402 challenge names the rails and the amounts. Then ask peer/receipt for a signed record.";

export function createPeerMethods(options: PeerMethodsOptions): PeerMethods {
  const { services, site, baseUrl, endpoint, facilitator, identity, exchanges, clock } = options;
  const x402 = toX402Block(site, facilitator);
  const skills = [...services.values()].map((service) => toCapability(service, baseUrl));
  const capabilities = { count: skills.length, skills, x402, payment_is_authorization: true };
  const now = (): number => Math.floor(clock.now() / 1000);

  const methods: Readonly<Record<PeerMethod, (envelope: Envelope) => Promise<object | A2aRefusal>>> = {
    "peer/hello": async ({ origin }) => ({
      agent: site.name,
      peer_verified: origin,
      card_url: baseUrl + PATHS.agentCard,
      endpoint,
      namespace: toNamespace(site.name),
      key_id: identity.signer().keyId,
      keys: identity.keys(),
      methods: PEER_METHODS,
      signature: PEER_SIGNATURE,
      policy_digest: POLICY_DIGEST,
      x402,
    }),
    "capabilities/list": async () => capabilities,
    "peer/quote": quote,
    "peer/receipt": receipt,
  };
  return (method, envelope) => methods[method](envelope);

  async function quote({ origin: peer, key_id, body }: Envelope): Promise<object | A2aRefusal> {
    const skill = isObject(body) ? body.skill : undefined;
    if (typeof skill !== "string") return refuse(PEER_CODES.invalidParams, 'body must be {"skill": "…"}');
    const service = services.get(skill);
    if (!service) {
      const name = skill.slice(0, 80);
      const hint = didYouMean(name, services.keys()) || "; capabilities/list names them";
      return refuse(PEER_CODES.notFound, `There is no skill ${JSON.stringify(name)}${hint}`);
    }
    const { price } = service.manifest;
    const url = baseUrl + service.path;
    if (price === undefined)
      return refuse(PEER_CODES.policy, `The skill "${skill}" is free: call ${url}, without a quote`);
    const quotedAt = now();
    const id = exchanges.createId();
    const signed = signPayload(
      {
        type: "a2a.quote.v1",
        exchange_id: id,
        peer,
        peer_key_id: key_id,
        skill,
        url,
        http_method: service.routes[0]?.method ?? "POST",
        price_usd: Number(price),
        quoted_at: quotedAt,
        expires_at: quotedAt + PEER_POLICY.quote_seconds,
        pay_with: "x402",
        instructions: INSTRUCTIONS,
      },
      identity.signer(),
    );
    await exchanges.open(id, { peer, skill, price, quoteDigest: signed.digest, quotedAt });
    return signed;
  }

  async function receipt(envelope: Envelope): Promise<object | A2aRefusal> {
    const { origin, key_id, body } = envelope;
    const id = isObject(body) ? toExchangeId(body.exchange_id) : undefined;
    if (id === undefined) return refuse(PEER_CODES.invalidParams, "body.exchange_id must match ^ax-[0-9a-f]{24}$");
    const exchange = await exchanges.read(id);
    // The answer does not tell a peer whether another peer's exchange exists.
    if (exchange?.peer !== origin)
      return refuse(PEER_CODES.notFound, `There is no exchange ${id} of yours, or it was forgotten`);
    const asserted = isObject(body) ? body.settlement : undefined;
    const observed = await exchanges.observed(id);
    const payload = toReceipt({ id, exchange, keyId: key_id, issuer: site.name, at: now(), asserted, observed });
    if ("error" in payload) return payload;
    return exchanges.conclude(id, signPayload(payload, identity.signer()));
  }
}
