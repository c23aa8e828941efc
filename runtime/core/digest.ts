import { hash } from "node:crypto";
import canonicalize from "canonicalize";
import { Problem, toValueError } from "../api/problem.ts";

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

/** The canonical form of JSON data, to compare it; its JSON where it has none, as a text with half of a character. */
export function comparableOf(value: unknown): string {
  try {
    return canonicalOf(value);
  } catch {
    return JSON.stringify(value);
  }
}

/** SHA-256 over the canonical form (RFC 8785) of JSON data: the order of keys does not matter. */
export const digestOf = (value: unknown): string => sha256(canonicalOf(value));

/**
 * `digestOf` what a caller sent.
 * @throws Problem `invalid-input` for strings that RFC 8785 does not allow: "\ud800" is a lone surrogate.
 */
export function digestOfInput(value: unknown): string {
  try {
    return digestOf(value);
  } catch (cause) {
    const fault = toValueError(`the input has no canonical form (RFC 8785): ${(cause as Error).message}`);
    throw new Problem("invalid-input", undefined, { issues: [fault], cause });
  }
}
