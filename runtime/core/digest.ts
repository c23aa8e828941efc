import { hash } from "node:crypto";
import canonicalize from "canonicalize";

/** SHA-256 as 64 lower-case hex characters. */
export const sha256 = (data: string | Uint8Array): string => hash("sha256", data);

/** The canonical form (RFC 8785, JCS) of JSON data. @throws Error for NaN, infinities and lone surrogates. */
export const canonicalOf = (value: unknown): string => canonicalize(value) ?? "";

/** Whether two JSON values are equal, whatever the order of their keys. What has no canonical form equals nothing. */
export function isSameJson(one: unknown, other: unknown): boolean {
  try {
    return canonicalOf(one) === canonicalOf(other);
  } catch {
    return false;
  }
}

/** SHA-256 over the canonical form (RFC 8785) of JSON data: the order of keys does not matter. */
export const digestOf = (value: unknown): string => sha256(canonicalOf(value));
