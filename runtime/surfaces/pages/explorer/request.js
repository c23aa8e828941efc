import { decodeHeader, learnTime } from "./x402.js";

/**
 * A request of a service, which may be sent several times.
 * @typedef {{ method: string, url: string, body: string | undefined }} Call
 */

/**
 * @typedef {{ status: number, title: string, body: unknown, file?: { type: string, url: string } | undefined, challenge: import("./x402.js").Challenge | undefined, receipt: import("./x402.js").Receipt | undefined, milliseconds: number }} Answer
 */

/**
 * Makes the request from a form and its input.
 * @param {DOMStringMap} route the form's `data-` attributes
 * @param {Readonly<Record<string, unknown>>} input
 * @returns {Call}
 */
export function toCall({ method = "POST", path = "/", parameters = "" }, input) {
  const names = toNames(parameters);
  const rest = Object.entries(input).filter(([name]) => !names.includes(name));
  const url = path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(input[name] ?? "")));
  if (method === "POST") return { method, url, body: JSON.stringify(Object.fromEntries(rest)) };
  const query = new URLSearchParams(rest.flatMap(toPairs)).toString();
  return { method, url: query === "" ? url : `${url}?${query}`, body: undefined };
}

/** @param {string} parameters of the path */
const toNames = (parameters) => parameters.split(" ").filter((name) => name !== "");

/**
 * A field in the query: a list repeats its name. A list of lists is one text of JSON.
 * @param {[name: string, value: unknown]} field
 * @returns {[string, string][]}
 */
const toPairs = ([name, value]) =>
  (Array.isArray(value) && !value.some(Array.isArray) ? value : [value]).flatMap((one) =>
    one === null ? [] : [[name, typeof one === "string" ? one : JSON.stringify(one)]],
  );

/**
 * The field that the address cannot hold, and why: a parameter of the path that is empty, no text or would change the path, a
 * list that would be left out, or a text that would become another one. Undefined when there is none.
 * @param {DOMStringMap} route
 * @param {Readonly<Record<string, unknown>>} input
 * @returns {{ name: string, why: string } | undefined}
 */
export function findUnfit({ method, parameters = "" }, input) {
  const names = toNames(parameters);
  const part = names.find((name) => typeof input[name] === "object" || /^\.{0,2}$/.test(String(input[name] ?? "")));
  if (part !== undefined)
    return { name: part, why: 'is a part of the address: it must not be empty, ".", "..", a list or a mapping.' };
  const held = method === "GET" ? Object.keys(input) : names;
  const lost = held.find((name) => isLost(input[name]));
  if (lost !== undefined)
    return { name: lost, why: "is an empty list, or has null in it, which no query can hold: leave it out." };
  const broken = held.find((name) =>
    toPairs([name, input[name]])
      .flat()
      .some((text) => /\p{Surrogate}/u.test(text)),
  );
  return broken === undefined
    ? undefined
    : { name: broken, why: "has half of a character (a lone surrogate), which no address can hold." };
}

/** Whether a query leaves a list out, or a part of it: the default would be paid for. @param {unknown} value */
const isLost = (value) =>
  Array.isArray(value) && !value.some(Array.isArray) && (value.length === 0 || value.includes(null));

/**
 * Sends a call, with a payment or without.
 * @param {Call} call
 * @param {string} [payment]
 * @param {string} [proof] that a wallet signs in
 * @returns {Promise<Answer>} rejects when there is no answer
 */
export async function send({ method, url, body }, payment, proof) {
  const started = performance.now();
  const response = await fetch(url, {
    method,
    headers: {
      accept: "application/json",
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(payment !== undefined && { "payment-signature": payment }),
      ...(proof !== undefined && { "sign-in-with-x": proof }),
    },
    cache: "no-store",
    ...(body !== undefined && { body }),
  });
  learnTime(response.headers.get("date"));
  const type = response.headers.get("content-type") ?? "";
  // All other answers are JSON.
  const isFile = response.ok && type !== "" && !/^application\/json\b/i.test(type);
  const file = isFile ? await response.blob() : undefined;
  const shown = file ? await showFile(file, type) : parse(await response.text());
  const [challenge, receipt] = ["payment-required", "payment-response"].map((name) => {
    const value = response.headers.get(name);
    return value === null ? undefined : decode(value);
  });
  return {
    status: response.status,
    title: `${response.status} ${response.statusText}`.trim(),
    body: shown,
    file: file && { type: file.type, url: URL.createObjectURL(file) },
    // The header's form is the one to echo: the body's is larger than many proxies take in a header.
    challenge: response.status === 402 ? readChallenge(challenge) : undefined,
    receipt: receipt ? withAsset(/** @type {NonNullable<Answer["receipt"]>} */ (receipt), payment) : undefined,
    milliseconds: Math.round(performance.now() - started),
  };
}

/**
 * What is shown of a file: its text, if it has one in a charset that the browser knows.
 * @param {Blob} file
 * @param {string} type with its charset
 */
async function showFile(file, type) {
  const [, charset = "utf-8"] = /charset="?([\w.:-]+)/i.exec(type) ?? [];
  try {
    if (/^text\/|json|xml/.test(type)) return new TextDecoder(charset).decode(await file.arrayBuffer());
  } catch {
    // It can be saved all the same.
  }
  return `A file of type ${file.type}, of ${file.size} bytes`;
}

/**
 * Whether a paid call has failed for good, uncharged or refunded. A status is not enough: a gateway can answer while the
 * seller is still working. The seller's own answers name the faults of the input, or have a code.
 * @param {Answer} answer
 */
export function isFinal({ status, body }) {
  if (isPaid(body)) return "refund_tx" in /** @type {object} */ (body); // Refunded.
  const isSellers = codeOf(body) !== undefined || faultsOf(body).length > 0;
  return status < 500 ? isSellers && !PASSING.has(status) : FINAL.has(codeOf(body));
}

/**
 * The faults of the input that an answer names (HTTPValidationError).
 * @param {unknown} body
 * @returns {readonly { loc: readonly unknown[], msg: string }[]}
 */
export function faultsOf(body) {
  const { detail } = /** @type {{ detail?: unknown }} */ (body ?? {});
  return Array.isArray(detail) && detail.every((fault) => Array.isArray(fault?.loc)) ? detail : [];
}

/**
 * Whether a call that has failed was charged: its price is paid back.
 * @param {unknown} body
 */
export const isPaid = (body) => codeOf(body) === "paid-not-delivered";

/** @param {unknown} body */
const codeOf = (body) => /** @type {{ code?: unknown } | undefined} */ (body)?.code;

/** Statuses after which the same request may succeed later. */
const PASSING = new Set([408, 409, 425, 429]);

/** Codes of services that failed without a result. @type {ReadonlySet<unknown>} */
const FINAL = new Set(["upstream-failed", "deadline-exceeded"]);

/**
 * A header's JSON; undefined where a gateway has broken it: the answer is shown without it.
 * @param {string} text
 */
function decode(text) {
  try {
    return decodeHeader(text);
  } catch {
    return undefined;
  }
}

/**
 * A receipt names the network alone, which can have several tokens.
 * @param {NonNullable<Answer["receipt"]>} receipt
 * @param {string | undefined} payment
 */
function withAsset(receipt, payment) {
  const sent = /** @type {{ accepted?: { asset: string } } | undefined} */ (payment && decode(payment));
  return { ...receipt, asset: sent?.accepted?.asset };
}

/** @param {unknown} value */
const readChallenge = (value) =>
  Array.isArray(/** @type {Answer["challenge"]} */ (value)?.accepts)
    ? /** @type {Answer["challenge"]} */ (value)
    : undefined;

/** @param {string} text */
function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
