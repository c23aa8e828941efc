/**
 * How long a `Retry-After` (RFC 9110, section 10.2.3: seconds, or an HTTP date) asks to wait, in milliseconds and at least
 * 0; undefined where it says nothing. @param now milliseconds since the Unix epoch.
 */
export function toRetryAfterMs(text: string | null, now: number): number | undefined {
  if (text === null) return undefined;
  const ms = /^\d+$/.test(text.trim()) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}
