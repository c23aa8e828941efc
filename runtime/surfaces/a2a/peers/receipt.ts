import { isObject } from "../../../core/json.ts";
import type { ObservedSettlement, PeerExchange } from "../../../core/peers/exchanges.ts";
import { type A2aRefusal, PEER_CODES, refuse } from "../errors.ts";

/** What is known of an exchange when its receipt is requested. */
export interface ReceiptFacts {
  readonly id: string;
  readonly exchange: PeerExchange;
  /** The key that signed the request. */
  readonly keyId: string;
  /** Our own origin. */
  readonly issuer: string;
  /** Unix seconds. */
  readonly at: number;
  /** What the peer says about its payment, unchecked. */
  readonly asserted: unknown;
  readonly observed: ObservedSettlement | undefined;
}

type Settlement = Readonly<Record<string, string>>;

/** What a peer may assert. Our key signs these values, so only short references are allowed, no sentences. */
const FIELDS = ["tx", "rail", "asset", "amount", "payer"];
const REFERENCE = /^[A-Za-z0-9._:/#-]{1,120}$/;

/** The unsigned receipt of an exchange. It lists what it proves and what it does not. */
export function toReceipt(facts: ReceiptFacts): { readonly type: "a2a.receipt.v1" } | A2aRefusal {
  const { id, exchange, keyId, issuer, at, observed } = facts;
  const asserted = readSettlement(facts.asserted);
  if (typeof asserted === "string") return refuse(PEER_CODES.invalidParams, asserted);
  const { peer, skill, price, quoteDigest, quotedAt } = exchange;
  const receipt = {
    type: "a2a.receipt.v1" as const,
    exchange_id: id,
    peer,
    peer_key_id: keyId,
    skill,
    price_usd: Number(price),
    quote_digest: quoteDigest,
    quoted_at: quotedAt,
    receipted_at: at,
    ...(asserted && { peer_asserted_settlement: asserted }),
    ...(observed && { observed_settlement: observed }),
    proves: [
      `${issuer} issued this quote, for this skill, at this price, to this peer`,
      "the peer controls the key that its agent card publishes as peer_key_id",
      ...(asserted ? ["the peer asserted peer_asserted_settlement"] : []),
      ...(observed ? [`${issuer} sold the skill at the quoted price, and saw observed_settlement pay for it`] : []),
    ],
    does_not_prove: [
      ...(asserted ? ["that peer_asserted_settlement happened: look it up on its chain"] : []),
      ...(observed
        ? ["that observed_settlement was not undone by its chain: look it up there"]
        : ["that anything was paid"]),
    ],
  };
  return receipt;
}

/** Reads the asserted settlement; a string explains what is wrong with it. */
function readSettlement(value: unknown): Settlement | string | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isObject(value)) return "body.settlement must be an object";
  const entries = Object.entries(value);
  const stranger = entries.find(([name]) => !FIELDS.includes(name))?.[0].slice(0, 80);
  if (stranger !== undefined) return `body.settlement takes ${FIELDS.join(", ")}, and not ${JSON.stringify(stranger)}`;
  const wrong = entries.find(([, text]) => typeof text !== "string" || !REFERENCE.test(text));
  return wrong ? `body.settlement.${wrong[0]} must be a text that matches ${REFERENCE.source}` : (value as Settlement);
}
