/**
 * The delay of a `Retry-After` header (RFC 9110, section 10.2.3: seconds, or an HTTP date), in milliseconds and at
 * least 0; undefined when there is none. @param now Unix milliseconds.
 */
export function toRetryAfterMs(text: string | null, now: number): number | undefined {
  if (text === null) return undefined;
  const ms = /^\d+$/.test(text.trim()) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}
