import { sha256 } from "../digest.ts";
import { isObject, tryParseJson } from "../json.ts";
import { authorizationId, readEip3009 } from "./eip3009.ts";
import { parseSolanaTransaction } from "./solana-transaction.ts";
import type { PaymentPayload, PaymentRequirements } from "./x402.ts";

/** Why a payment is refused: the first word of the challenge's `error`. */
export type Refusal =
  | "invalid_payload"
  | "invalid_identifier"
  | "unsupported_version"
  | "unsupported_network"
  | "no_matching_offer"
  | "wrong_resource"
  | "payment_expired"
  | "payment_not_yet_valid"
  | "payment_valid_too_long"
  | "insufficient_funds"
  | "invalid_signature"
  | "authorization_used"
  | "payment_rejected";

/** A payment from a client: well-formed, but otherwise unchecked. */
export interface Payment {
  /** Version 1 is deprecated: it names neither an offer nor a resource. */
  readonly x402Version: 1 | 2;
  readonly scheme: string;
  /** CAIP-2. */
  readonly network: string;
  /** The offer that the client accepts (version 2). */
  readonly accepted: PaymentRequirements | undefined;
  /** The resource that the client pays for (version 2, optional). */
  readonly resourceUrl: string | undefined;
  /** Only the signed authorization: another member could make a facilitator settle something else. */
  readonly payload: Readonly<Record<string, unknown>>;
  readonly authorization: Authorization;
  /** The client's own name for this purchase (extension `payment-identifier`, version 2). */
  readonly identifier: string | undefined;
}

/** The signed part of a payment. */
export interface Authorization {
  /** Identifies what can be settled only once: payer and nonce (EIP-3009), or the hash of the message (Solana). */
  readonly id: string;
  /** SHA-256 over all signed data and the signature: whoever has all of it may fetch a stored answer. */
  readonly fingerprint: string;
  /** Atomic units; undefined when the payload does not contain it. */
  readonly amount: bigint | undefined;
  /** The payer; undefined when the payload does not contain it. */
  readonly payer: string | undefined;
  /** The recipient in lower case; undefined when the payload does not contain it. */
  readonly payTo: string | undefined;
  /** Unix seconds; undefined on Solana, where the blockhash limits the time. */
  readonly validAfter: number | undefined;
  readonly validBefore: number | undefined;
}

/** Whether a text is a client's name for its purchase: x402 extension `payment-identifier`, "Client: id format". */
export const isIdentifier = (text: string): boolean => /^[A-Za-z0-9_-]{16,128}$/.test(text);

/** `InsufficientFunds` of SPL Token, in the words of the x402 SDK. */
const TOO_LITTLE = /Simulation failed: \{"InstructionError":\["?\d+"?,\{"Custom":"?1"?\}\]\}/;

/** A revert's own text in viem's words. The rest of such a message names the arguments, `validBefore` among them. */
const REVERT = /reverted with the following reason:\s*([^\n]+)/;

const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/**
 * Reads a payment: base64 text of a header (x402 transport HTTP, V2 `PAYMENT-SIGNATURE`, V1 `X-PAYMENT`) or an object
 * (MCP, A2A). V1 networks (`base`) are translated to CAIP-2 by `networks`.
 * @param isRead which networks' payments are read, by CAIP-2 name; those of `networks` by default.
 */
export function readPayment(
  raw: string | object,
  networks: ReadonlyMap<string, string>,
  isRead = (network: string): boolean => [...networks.values()].includes(network),
): Payment | Refusal {
  const value = parsePayment(raw);
  if (!isObject(value) || !isObject(value.payload)) return "invalid_payload";
  if (value.x402Version !== 1 && value.x402Version !== 2) return "unsupported_version";
  const accepted = value.x402Version === 2 ? value.accepted : undefined;
  if (value.x402Version === 2 && !isRequirements(accepted)) return "invalid_payload";
  const named = accepted ?? value;
  const { scheme, network } = named as Record<string, unknown>;
  if (typeof scheme !== "string" || typeof network !== "string") return "invalid_payload";
  const caip = value.x402Version === 1 ? (networks.get(network) ?? network) : network;
  if (!isRead(caip)) return "unsupported_network";
  const read = caip.startsWith("solana:") ? readSolana(value.payload) : readEvm(value.payload);
  if (!read) return "invalid_payload";
  const identifier = value.x402Version === 2 ? readIdentifier(value.extensions) : undefined;
  if (identifier === null) return "invalid_identifier";
  return {
    x402Version: value.x402Version,
    scheme,
    network: caip,
    accepted: accepted as PaymentRequirements | undefined,
    resourceUrl: isObject(value.resource) && typeof value.resource.url === "string" ? value.resource.url : undefined,
    ...read,
    identifier,
  };
}

/** The client's own name for its purchase, in a payment that is not read otherwise; undefined when it has none. */
export function nameOf(raw: string | object): string | undefined {
  const value = parsePayment(raw);
  return isObject(value) ? (readIdentifier(value.extensions) ?? undefined) : undefined;
}

/** Undefined when there is none, also in an echo of our declaration; null when it or its extension is malformed. */
function readIdentifier(extensions: unknown): string | undefined | null {
  const named = isObject(extensions) ? extensions["payment-identifier"] : undefined;
  if (named === undefined || named === null) return undefined;
  if (!isObject(named) || !isObject(named.info)) return null; // An id elsewhere would protect nothing.
  const { id } = named.info;
  if (id === undefined || id === null) return undefined;
  return typeof id === "string" && isIdentifier(id) ? id : null;
}

/** Whether a network's payments can be read: also without a rail, since what was bought there is still delivered. */
export const isKnownKind = (network: string): boolean => /^(?:eip155|solana):[-\w]{1,32}$/.test(network);

/** The payment as facilitators expect it: a v1 payment becomes v2 with the offer that it matched. */
export function toPayload(payment: Payment, offer: PaymentRequirements, resource: string): PaymentPayload {
  return {
    x402Version: 2,
    resource: { url: resource },
    accepted: offer,
    payload: payment.payload,
  };
}

/**
 * Maps the reason of a facilitator or an SDK to our closed list; the caller also shows the original reason.
 * @param message names the chain's own error, where the reason says only that a simulation failed.
 */
export function toRefusal(reason: string | null | undefined, message?: string | null): Refusal {
  const text = `${reason ?? ""} ${REVERT.exec(message ?? "")?.[1] ?? ""}`;
  if (/insufficient|balance/i.test(text) || TOO_LITTLE.test(message ?? "")) return "insufficient_funds";
  if (/nonce|already|(?<!pa|ref|ca)used|duplicate/i.test(text)) return "authorization_used";
  if (/signature/i.test(text)) return "invalid_signature";
  if (/valid_?before|expired|blockhash/i.test(text) || /BlockhashNotFound/.test(message ?? ""))
    return "payment_expired";
  if (/valid_?after|not.yet/i.test(text)) return "payment_not_yet_valid";
  return "payment_rejected";
}

/** The JSON of a payment, unchecked; undefined when it is not JSON. */
export function parsePayment(raw: string | object): unknown {
  if (typeof raw !== "string") return raw;
  return BASE64.test(raw) ? tryParseJson(Buffer.from(raw, "base64").toString("utf8")) : undefined;
}

/** Numbers are decimal text on the wire. */
function readEvm(given: Record<string, unknown>): Pick<Payment, "payload" | "authorization"> | undefined {
  const payload = readEip3009(given);
  if (!payload) return undefined;
  const { from, to, value, validAfter, validBefore, nonce } = payload.authorization;
  const signed = [from, to, value, validAfter, validBefore, nonce, payload.signature];
  return {
    payload: { ...payload },
    authorization: {
      id: authorizationId({ from, nonce }),
      fingerprint: sha256(signed.join("|").toLowerCase()),
      amount: BigInt(value),
      payer: from,
      payTo: to.toLowerCase(),
      validAfter: Number(validAfter),
      validBefore: Number(validBefore),
    },
  };
}

/** A partially signed transaction (x402 scheme `exact` on Solana). */
function readSolana({ transaction }: Record<string, unknown>): Pick<Payment, "payload" | "authorization"> | undefined {
  if (typeof transaction !== "string" || !BASE64.test(transaction)) return undefined;
  const parsed = parseSolanaTransaction(transaction);
  if (!parsed) return undefined;
  const bytes = Buffer.from(transaction, "base64");
  return {
    // Decoders differ about "-", "_" and missing "=": a facilitator must get the transaction that was read here.
    payload: { transaction: bytes.toString("base64") },
    authorization: {
      id: sha256(parsed.message),
      fingerprint: sha256(bytes),
      amount: parsed.amount,
      payer: parsed.transfer?.payer,
      payTo: undefined,
      validAfter: undefined,
      validBefore: undefined,
    },
  };
}

function isRequirements(value: unknown): value is PaymentRequirements {
  if (!isObject(value)) return false;
  const texts = ["scheme", "network", "asset", "amount", "payTo"].every((key) => typeof value[key] === "string");
  return texts && typeof value.maxTimeoutSeconds === "number" && (value.extra === undefined || isObject(value.extra));
}
