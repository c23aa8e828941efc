import { type KeyObject, verify } from "node:crypto";
import { digestOf } from "../digest.ts";
import type { IdentitySigner } from "./identity.ts";

/** How everything between peers is signed, by its name in agent cards: Ed25519 over `sha256:…` of the RFC 8785 form. */
export const SIGNATURE_RECIPE = { algorithm: "ed25519", digest: "sha256-canonical-json" } as const;

/** A payload and our signature over it. Whoever verifies leaves these five fields out and digests the rest. */
export type SignedPayload<T> = T & {
  readonly digest: string;
  readonly signed: true;
  readonly signature_algorithm: "ed25519";
  readonly key_id: string;
  /** Base64. */
  readonly signature: string;
};

/** What is signed of JSON data: the 71 characters `sha256:` and the hex digest of its RFC 8785 (JCS) form. */
export const toSignedText = (payload: unknown): string => `sha256:${digestOf(payload)}`;

/** Signs a payload, whose `type` keeps a signature over one kind from being taken for one over another. */
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

/** 64 bytes in base64, written in the one way in which base64 can be written. */
export function isSignature(text: unknown): text is string {
  if (typeof text !== "string" || text.length !== 88) return false;
  const bytes = Buffer.from(text, "base64");
  return bytes.length === 64 && bytes.toString("base64") === text;
}

/** Whether a signature over a payload holds. */
export const isSignedBy = (key: KeyObject, payload: unknown, signature: string): boolean =>
  verify(null, Buffer.from(toSignedText(payload)), key, Buffer.from(signature, "base64"));
