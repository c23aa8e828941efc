import { type KeyObject, verify } from "node:crypto";
import { digestOf } from "../digest.ts";
import type { IdentitySigner } from "./identity.ts";

/** How peers sign, by the names in agent cards: Ed25519 over `sha256:…` of the canonical form (RFC 8785). */
export const SIGNATURE_RECIPE = { algorithm: "ed25519", digest: "sha256-canonical-json" } as const;

/** A payload with our signature. The signature covers all fields but these five. */
export type SignedPayload<T> = T & {
  readonly digest: string;
  readonly signed: true;
  readonly signature_algorithm: "ed25519";
  readonly key_id: string;
  /** Base64. */
  readonly signature: string;
};

/** The text that is signed for JSON data: `sha256:` and the hex digest of its canonical form (RFC 8785). */
export const toSignedText = (payload: unknown): string => `sha256:${digestOf(payload)}`;

/** Signs a payload. Its `type` is signed, too, so that a payload of one kind cannot be shown as another. */
export function signPayload<T extends { readonly type: string }>(
  payload: T,
  { keyId, sign }: IdentitySigner,
): SignedPayload<T> {
  const digest = toSignedText(payload);
  const signature = sign(digest).toString("base64");
  return {
    ...payload,
    digest,
    signed: true,
    signature_algorithm: SIGNATURE_RECIPE.algorithm,
    key_id: keyId,
    signature,
  };
}

/** Whether a text is 64 bytes in standard base64, in canonical form. */
export function isSignature(text: unknown): text is string {
  if (typeof text !== "string" || text.length !== 88) return false;
  const bytes = Buffer.from(text, "base64");
  return bytes.length === 64 && bytes.toString("base64") === text;
}

/** Whether a signature over a payload is valid. */
export const isSignedBy = (key: KeyObject, payload: unknown, signature: string): boolean =>
  verify(null, Buffer.from(toSignedText(payload)), key, Buffer.from(signature, "base64"));
