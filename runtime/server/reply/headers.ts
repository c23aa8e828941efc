/** The response headers that browser agents may read (CORS). */
const RESPONSE_HEADERS =
  "age, link, payment-required, payment-response, retry-after, x-payment-response, x-payphone-upstreams, x-request-id";

/** Lets browsers read an answer, whatever page has asked (CORS). */
export const ANY_ORIGIN: readonly string[] = ["Access-Control-Allow-Origin", "*"];

/** The headers of every answer: names and values in turn. */
// biome-ignore format: one header a line
export const toFixedHeaders = (baseUrl: string): readonly string[] => [
  ...ANY_ORIGIN,
  "Access-Control-Expose-Headers", RESPONSE_HEADERS,
  "X-Content-Type-Options", "nosniff",
  "X-Frame-Options", "DENY",
  "Referrer-Policy", "no-referrer",
  ...(baseUrl.startsWith("https:") ? ["Strict-Transport-Security", "max-age=31536000"] : []),
];

/** The headers of a body that is data, not a page. */
// biome-ignore format: one header a line
export const toDataHeaders = (type: string, cacheControl: string): readonly string[] => [
  "Content-Type", type,
  "Cache-Control", cacheControl,
  "Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'",
];
