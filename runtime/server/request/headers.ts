/** What browser agents may read of an answer. */
const RESPONSE_HEADERS =
  "link, payment-required, payment-response, retry-after, x-payment-response, x-payphone-upstreams, x-request-id";

/** What every answer carries: names and values in turn. */
export function toFixedHeaders(baseUrl: string): readonly string[] {
  return [
    ...["Access-Control-Allow-Origin", "*"],
    ...["Access-Control-Expose-Headers", RESPONSE_HEADERS],
    ...["X-Content-Type-Options", "nosniff"],
    ...["X-Frame-Options", "DENY"],
    ...["Referrer-Policy", "no-referrer"],
    ...(baseUrl.startsWith("https:") ? ["Strict-Transport-Security", "max-age=31536000"] : []),
  ];
}

/** The headers of a body that is data, not a page. */
export const toDataHeaders = (type: string, cacheControl: string): readonly string[] => [
  ...["Content-Type", type],
  ...["Cache-Control", cacheControl],
  ...["Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"],
];

/** Base64 of the JSON, as x402 headers are written. */
export const encodeHeader = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64");
