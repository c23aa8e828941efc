import type { Clock } from "../../api/capabilities.ts";
import { canonicalOf } from "../digest.ts";
import type { PaymentRequirements, SettleResponse } from "./x402.ts";

/** Signed offers and receipts (x402 extension `offer-receipt`, format `jws`: EdDSA under a did:web key of this host). */
export interface Proofs {
  /**
   * The extension of a challenge: one signed offer for each of `accepts`, valid as long as the challenge is payable.
   * Returns the same object for the same list until the signature must be renewed.
   */
  offers(resource: string, accepts: readonly PaymentRequirements[]): Extension;
  /** The extension of a receipt; undefined when the payer is unknown. */
  receipt(sale: Sale): Extension | undefined;
}

export interface Sale {
  /** The URL of the resource that was paid for. */
  readonly resource: string;
  readonly receipt: SettleResponse;
  readonly payer: string | undefined;
  /** Unix milliseconds. */
  readonly settledAt: number;
}

type Extension = { readonly "offer-receipt": { readonly info: Readonly<Record<string, unknown>> } };

export interface ProofsDeps {
  /** The public base URL; its host is the signer. */
  readonly baseUrl: string;
  /** Returns the current key of the identity. */
  readonly signer: () => { readonly keyId: string; readonly sign: (text: string) => Buffer };
  readonly clock: Clock;
}

/** How long signed offers are reused; they are payable for at least a minute (`offer_seconds`). */
const RENEW_MS = 30_000;

export function createProofs({ baseUrl, signer, clock }: ProofsDeps): Proofs {
  const did = toDid(baseUrl);
  /** Keyed by the list of a challenge. */
  const kept = new WeakMap<readonly PaymentRequirements[], { readonly extension: Extension; readonly at: number }>();

  /** A compact JWS (RFC 7515) over the canonical form of the payload. */
  function signJws(payload: object): { readonly format: "jws"; readonly signature: string } {
    const { keyId, sign } = signer();
    const text = [{ alg: "EdDSA", kid: `${did}#${keyId}` }, payload].map(toPart).join(".");
    return { format: "jws", signature: `${text}.${sign(text).toString("base64url")}` };
  }

  return {
    offers(resource, accepts) {
      const now = clock.now();
      const known = kept.get(accepts);
      if (known && Math.abs(now - known.at) < RENEW_MS) return known.extension;
      const offers = accepts.map(({ scheme, network, asset, payTo, amount, maxTimeoutSeconds }, acceptIndex) => {
        const validUntil = Math.floor(now / 1000) + maxTimeoutSeconds;
        const { format, signature } = signJws({
          version: 1,
          resourceUrl: resource,
          scheme,
          network,
          asset,
          payTo,
          amount,
          validUntil,
        });
        return { format, acceptIndex, signature };
      });
      const extension: Extension = { "offer-receipt": { info: { offers } } };
      kept.set(accepts, { extension, at: now });
      return extension;
    },
    receipt({ resource, receipt: { network, transaction }, payer, settledAt }) {
      if (payer === undefined) return undefined;
      const issuedAt = Math.floor(settledAt / 1000);
      const receipt = signJws({ version: 1, network, resourceUrl: resource, payer, issuedAt, transaction });
      return { "offer-receipt": { info: { receipt } } };
    },
  };
}

/** The DID of a base URL: its host, and its path if it has one (did:web, section 2.5.2). */
export function toDid(baseUrl: string): string {
  const { host, pathname } = new URL(baseUrl);
  const segments = pathname.split("/").filter((segment) => segment !== "");
  return ["did:web", encodeURIComponent(host), ...segments].join(":");
}

const toPart = (value: object): string => Buffer.from(canonicalOf(value)).toString("base64url");
