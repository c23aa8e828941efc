import type { Reply } from "../reply/reply.ts";

/** Request headers that browser agents may send, besides those that begin with `mcp-` or `a2a-`. */
const REQUEST_HEADERS = [
  "accept",
  "accept-payment", // the client mppx names in it what it can pay
  "access-control-expose-headers", // the stock x402 client sends it as a request header
  "authorization",
  "baggage", // with the two that begin with "trace": W3C's trace context, which pages with OpenTelemetry send
  "content-type",
  "payment-signature",
  "sign-in-with-x",
  "traceparent",
  "tracestate",
  "x-a2a-exchange",
  "x-a2a-extensions", // activates extensions in A2A 0.3
  "x-payment",
  "x-request-id",
];
const PREFIXED = /^(mcp|a2a)-[a-z0-9-]{1,60}$/;
const PREFLIGHT_SECONDS = "7200"; // the maximum in Chromium

/** The answer to OPTIONS: the path's methods, which browsers may call from any origin. */
export function toOptionsReply(allow: string, requestedHeaders: string | undefined): Reply {
  const asked = (requestedHeaders ?? "").split(",").map((name) => name.trim().toLowerCase());
  const headers = [...REQUEST_HEADERS, ...asked.filter((name) => PREFIXED.test(name))];
  return {
    status: 204,
    // biome-ignore format: one header a line
    headers: [
      "Allow", allow,
      "Access-Control-Allow-Methods", allow,
      "Access-Control-Allow-Headers", headers.join(", "),
      "Access-Control-Max-Age", PREFLIGHT_SECONDS,
      "Vary", "Access-Control-Request-Headers",
    ],
  };
}
