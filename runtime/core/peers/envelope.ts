import type { KeyObject } from "node:crypto";
import { canonicalOf } from "../digest.ts";
import type { JsonObject } from "../json.ts";
import type { IdentitySigner } from "./identity.ts";
import { explainOrigin } from "./origin.ts";
import { PEER_POLICY } from "./policy.ts";
import { isSignature, isSignedBy, toSignedText } from "./signature.ts";

/** The methods of signed peer requests. See runtime/docs/decisions/identity-and-peers.md. */
export const PEER_METHODS = ["peer/hello", "capabilities/list", "peer/quote", "peer/receipt"] as const;

/** The name of a method of signed peer requests. */
export type PeerMethod = (typeof PEER_METHODS)[number];

/** The fields under a peer's signature: the message's `method`, and six of its params. */
export const SIGNED_FIELDS = ["aud", "body", "exp", "key_id", "method", "nonce", "origin"] as const;

/** A peer's signed request: the `params` of its message. */
export interface Envelope {
  /** The recipient's public base URL. */
  readonly aud: string;
  /** The sender's origin, which serves its agent card. */
  readonly origin: string;
  readonly key_id: string;
  readonly nonce: string;
  /** Unix seconds. */
  readonly exp: number;
  readonly signature_algorithm: "ed25519";
  readonly signature: string;
  /** null when absent. */
  readonly body: unknown;
}

const FIELDS = ["aud", "origin", "key_id", "nonce", "exp", "signature_algorithm", "signature", "body"];
const KEY_ID = /^[A-Za-z0-9._:#-]{1,64}$/;
const [SHORTEST_NONCE, LONGEST_NONCE] = [8, 128];
const MAX_DEPTH = 64;

/** An envelope, or the reason why it is invalid. */
export type EnvelopeReading =
  | { readonly kind: "envelope"; readonly envelope: Envelope }
  | { readonly kind: "malformed"; readonly reason: string };

/** Reads an envelope without verifying its signature. `now` is in Unix seconds. */
export function readEnvelope(
  params: JsonObject,
  { audience, now }: { audience: string; now: number },
): EnvelopeReading {
  const { aud, origin, key_id, nonce, exp, signature_algorithm, signature, body = null } = params;
  const unknown = Object.keys(params).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined) return malformed(`params holds a field that is no part of an envelope: ${quote(unknown)}`);
  if (aud !== audience) return malformed(`aud must be ${quote(audience)}, exactly`);
  if (typeof origin !== "string") return malformed("origin must be a string");
  const fault = explainOrigin(origin) ?? explainExp(exp, now) ?? explainBody(body);
  if (fault !== undefined) return malformed(fault);
  if (typeof key_id !== "string" || !KEY_ID.test(key_id))
    return malformed("key_id must be 1 to 64 characters of A-Z, a-z, 0-9 and ._:#-");
  if (!isNonce(nonce)) return malformed(`nonce must be a text of ${SHORTEST_NONCE} to ${LONGEST_NONCE} characters`);
  if (signature_algorithm !== "ed25519") return malformed('signature_algorithm must be "ed25519"');
  if (!isSignature(signature)) return malformed("signature must be 64 bytes in standard base64");
  const envelope: Envelope = { aud, origin, key_id, nonce, exp: exp as number, signature_algorithm, signature, body };
  return { kind: "envelope", envelope };
}

const malformed = (reason: string): EnvelopeReading => ({ kind: "malformed", reason });

/** Whether the envelope's signature over `SIGNED_FIELDS` is valid. */
export const isSealedBy = (key: KeyObject, method: string, envelope: Envelope): boolean =>
  isSignedBy(key, toSigned(method, envelope), envelope.signature);

/** Makes the params of a signed request. */
export function sealEnvelope(
  method: PeerMethod,
  fields: Pick<Envelope, "aud" | "origin" | "nonce" | "exp" | "body">,
  { keyId: key_id, sign }: IdentitySigner,
): Envelope {
  const signature = sign(toSignedText(toSigned(method, { ...fields, key_id }))).toString("base64");
  return { ...fields, key_id, signature_algorithm: "ed25519", signature };
}

function toSigned(method: string, envelope: Omit<Envelope, "signature" | "signature_algorithm">): JsonObject {
  const { aud, body, exp, key_id, nonce, origin } = envelope;
  return { aud, body, exp, key_id, method, nonce, origin };
}

function explainExp(exp: unknown, now: number): string | undefined {
  if (!Number.isSafeInteger(exp)) return "exp must be a whole number of Unix seconds";
  if ((exp as number) <= now) return `exp is over: it is ${Math.floor(now)} now`;
  const most = PEER_POLICY.max_exp_seconds;
  return (exp as number) - now > most ? `exp must lie at most ${most} seconds ahead` : undefined;
}

/** Accepts bodies whose canonical form (RFC 8785) is the same in every language. */
function explainBody(body: unknown): string | undefined {
  const fault = explainValue(body, 0);
  if (fault !== undefined) return fault;
  const bytes = Buffer.byteLength(canonicalOf(body));
  return bytes > PEER_POLICY.max_body_bytes
    ? `body has ${bytes} bytes in its canonical form; at most ${PEER_POLICY.max_body_bytes} are taken`
    : undefined;
}

function explainValue(value: unknown, depth: number): string | undefined {
  if (depth > MAX_DEPTH) return `body is nested more than ${MAX_DEPTH} levels deep`;
  if (typeof value === "number")
    return Number.isSafeInteger(value)
      ? undefined
      : "numbers in body must be integers of at most 53 bits; write others as text";
  if (typeof value === "string")
    return value.isWellFormed() ? undefined : "body holds a text with half a surrogate pair";
  if (typeof value !== "object" || value === null) return undefined;
  for (const [name, part] of Object.entries(value)) {
    const fault = explainValue(name, depth) ?? explainValue(part, depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

const isNonce = (nonce: unknown): nonce is string =>
  typeof nonce === "string" && nonce.length >= SHORTEST_NONCE && nonce.length <= LONGEST_NONCE && nonce.isWellFormed();

const quote = (text: string): string => JSON.stringify(text.slice(0, 80));
