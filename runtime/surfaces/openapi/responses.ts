import { PROBLEMS } from "../../api/problem.ts";

type Json = Record<string, unknown>;

const text = { type: "string" };
const json = (schema: string): Json => ({ "application/json": { schema: { $ref: `#/components/schemas/${schema}` } } });

const UP_OR_DOWN = { enum: ["up", "down"] };

function toPart(names: readonly string[]): Json {
  const fields = Object.fromEntries(names.map((name) => [name, text]));
  const properties = { ...fields, state: UP_OR_DOWN, reason: { type: "string", description: "Why it is down." } };
  return { type: "object", properties, required: [...names, "state"] };
}

const toExtension = (description: string): Json => ({ type: "object", description });

/** The extensions of challenges. */
const EXTENSIONS: Json = {
  type: "object",
  properties: {
    bazaar: toExtension("How the service is called, for directories."),
    "payment-identifier": toExtension(
      "Takes an id of your own, in `info.id` of the payment: the same payer, id, service and input are charged once.",
    ),
    "sign-in-with-x": toExtension("What a wallet signs to prove itself without paying."),
    "offer-receipt": toExtension("The offers, signed (JWS). Receipts have it, too."),
  },
};

/** Schemas that every site has: errors, the x402 challenge, and the two probes. */
export const OWN_SCHEMAS: Json = {
  HTTPValidationError: {
    type: "object",
    description: "Every fault of the input at once.",
    properties: { detail: { type: "array", items: { $ref: "#/components/schemas/ValidationError" } } },
    required: ["detail"],
  },
  ValidationError: {
    type: "object",
    properties: {
      loc: {
        type: "array",
        items: { anyOf: [text, { type: "integer" }] },
        description: "`body`, `query` or `path`, then the field.",
      },
      msg: text,
      type: text,
      input: { description: "The value that was refused." },
      ctx: { type: "object", description: "The bound that was broken." },
    },
    required: ["loc", "msg", "type"],
  },
  Problem: {
    type: "object",
    description: "A problem document (RFC 9457).",
    properties: {
      type: text,
      title: text,
      status: { type: "integer" },
      detail: { type: "string", description: "What went wrong, and what would be right." },
      code: { type: "string", enum: Object.keys(PROBLEMS) },
      request_id: { type: "string", description: "Name it when you report the problem." },
    },
    required: ["type", "title", "status", "detail", "code"],
  },
  PaymentRequirements: {
    type: "object",
    description: "One offer (x402 version 2).",
    properties: {
      scheme: text,
      network: { type: "string", description: "CAIP-2." },
      asset: text,
      amount: { type: "string", pattern: "^[0-9]+$", description: "Atomic units of the asset." },
      payTo: text,
      maxTimeoutSeconds: { type: "integer" },
      extra: { type: "object" },
    },
    required: ["scheme", "network", "asset", "amount", "payTo", "maxTimeoutSeconds", "extra"],
  },
  PaymentRequired: {
    type: "object",
    description: "The challenge (x402 version 2).",
    properties: {
      x402Version: { const: 2 },
      error: text,
      resource: { type: "object", properties: { url: text, description: text, mimeType: text }, required: ["url"] },
      accepts: { type: "array", items: { $ref: "#/components/schemas/PaymentRequirements" } },
      extensions: EXTENSIONS,
    },
    required: ["x402Version", "resource", "accepts"],
  },
  Health: { type: "object", properties: { status: { const: "ok" }, service: text }, required: ["status", "service"] },
  Readiness: {
    type: "object",
    properties: {
      status: { enum: ["ready", "degraded", "unavailable"] },
      store: UP_OR_DOWN,
      rails: { type: "array", items: toPart(["id", "network"]) },
      upstreams: { type: "array", items: toPart(["id"]) },
      services: { type: "array", items: toPart(["id"]) },
      warnings: { type: "array", items: text },
    },
    required: ["status", "store", "rails", "upstreams", "services"],
  },
};

const ANY = [400, 404, 408, 414, 429, 431, 500, 502, 503, 504];
const POSTED = [413, 415];
/** Of calls whose wallet is known: the shop may refuse it. */
const OF_WALLETS = [403];
const PAID = [409];
const RETRIED = new Set([409, 429, 502, 503]);
const PAID_NOT_DELIVERED = PROBLEMS["paid-not-delivered"].status;

/** The codes and titles of one status, from the table of problems. */
const titlesOf = (status: number): string =>
  Object.entries(PROBLEMS)
    .filter(([, row]) => row.status === status)
    .map(([code, row]) => `\`${code}\`: ${row.title}`)
    .join(". ");

/** The header that tells of a settlement. */
export const toReceiptHeader = (when = ""): Json => ({
  "PAYMENT-RESPONSE": { description: `Base64 of the JSON SettleResponse${when}`, schema: text },
});

const WAIT = { "Retry-After": { description: "Seconds", schema: { type: "integer" } } };

const problemOf = (status: number): Json => ({
  description: titlesOf(status),
  ...(RETRIED.has(status) && {
    headers: { ...WAIT, ...(status === PAID_NOT_DELIVERED && toReceiptHeader(", if it was paid")) },
  }),
  content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
});

const REQUIRED = { "PAYMENT-REQUIRED": { description: "Base64 of the JSON PaymentRequired", schema: text } };
const CHALLENGE = { headers: REQUIRED, content: json("PaymentRequired") };

/** The shared responses, by name. */
export const ERROR_RESPONSES: Json = {
  PaymentRequired: {
    description: "Not paid, or the payment was not accepted: `error` says why. The header holds the same challenge.",
    ...CHALLENGE,
    headers: { ...REQUIRED, ...toReceiptHeader(", if a settlement was tried") },
  },
  ValidationError: {
    description: "The input does not match the schema. Not charged.",
    content: json("HTTPValidationError"),
  },
  ...Object.fromEntries(
    [...ANY, ...POSTED, ...OF_WALLETS, ...PAID].sort().map((status) => [`Problem${status}`, problemOf(status)]),
  ),
};

const SIGN_IN_REQUIRED: Json = {
  description: "A wallet must sign in: `extensions` has `sign-in-with-x` with a new nonce. Nothing is to be paid.",
  ...CHALLENGE,
};

/** The properties of an operation that determine its responses. */
export interface ResponseTerms {
  readonly isPaid: boolean;
  readonly needsSignIn: boolean;
  readonly isPosted: boolean;
}

/** The responses of an operation besides 200. */
export function toErrorResponses({ isPaid, needsSignIn, isPosted }: ResponseTerms): Json {
  const ref = (name: string): Json => ({ $ref: `#/components/responses/${name}` });
  const ofWallets = isPaid || needsSignIn ? OF_WALLETS : [];
  const statuses = [...ANY, ...(isPosted ? POSTED : []), ...ofWallets, ...(isPaid ? PAID : [])].sort();
  return {
    ...(isPaid && { "402": ref("PaymentRequired") }),
    ...(needsSignIn && { "402": SIGN_IN_REQUIRED }),
    "422": ref("ValidationError"),
    ...Object.fromEntries(statuses.map((status) => [String(status), ref(`Problem${status}`)])),
  };
}
