import type { Draft } from "../../set/draft.ts";
import { type Fault, faultAt, faultAtKey } from "../../set/faults.ts";
import { SENT_HEADER } from "../../set/grammar.ts";
import { keysOf, type ProxyManifest, type UpstreamManifest } from "../../set/manifest.ts";
import { CREDENTIAL } from "../credential.ts";
import { parseTemplate, placeholdersOf } from "../template.ts";

/** Headers of the connection, which are made for each request. */
const OWN =
  /^(?:host|connection|content-length|transfer-encoding|te|trailer|upgrade|expect|keep-alive|proxy-.*|accept-encoding)$/i;
/** Headers that speak for others: callers, proxies, payers. */
const FOREIGN = /^(?:cookie|set-cookie|forwarded|via|x-forwarded-.*|x-real-ip|payment-.*|x-payment.*|sign-in-with-x)$/i;

/** Checks the headers of a proxied service: their names and values, and that they contain no credentials. */
export function checkHeaders(draft: Draft, proxy: ProxyManifest, upstream: UpstreamManifest | undefined): Fault[] {
  return Object.entries(proxy.headers ?? {}).flatMap(([name, value]) => {
    const place = ["proxy", "headers", name];
    const complaint = explainHeader(name, upstream) ?? explainType(name, value, proxy) ?? explainKey(name, value);
    if (complaint) return [faultAtKey(draft, place, "bad-header", complaint)];
    if (CREDENTIAL.test(name)) return [faultAtKey(draft, place, "secret-in-set", BELONGS)];
    const texts = parseTemplate(value).filter((part) => typeof part === "string");
    return /^[ -~]*$/.test(texts.join("")) && value !== ""
      ? []
      : [faultAt(draft, place, "bad-header", "a header's value must be made of printable ASCII characters")];
  });
}

/** Checks that the query of a proxied service contains no credentials, neither the operator's nor the caller's. */
export function checkQuery(
  draft: Draft,
  { query = {} }: ProxyManifest,
  upstream: UpstreamManifest | undefined,
): Fault[] {
  return Object.entries(query).flatMap(([name, value]) => {
    const place = ["proxy", "query", name];
    if (keysOf(upstream).some((key) => key.query === name))
      return [faultAtKey(draft, place, "bad-proxy", "the upstream's credential is sent there: leave it out")];
    const isFilled = placeholdersOf(parseTemplate(String(value))).length > 0;
    return CREDENTIAL.test(name) && !isFilled ? [faultAtKey(draft, place, "secret-in-set", BELONGS)] : [];
  });
}

export const BELONGS = "a credential belongs in a variable, which the upstream's key in _site.yaml names";

const OTHER_CHARSET = /;\s*charset\s*=(?!\s*"?utf-?8\b)/i;

/** The content type of a JSON body may only be another JSON type. */
function explainType(name: string, value: string, { body, encoding }: ProxyManifest): string | undefined {
  if (name.toLowerCase() !== "content-type") return undefined;
  if (encoding === "text" && OTHER_CHARSET.test(value))
    return 'the body is sent in UTF-8: say "charset=utf-8", or leave it out';
  if (encoding === "text" || encoding === "bytes")
    return /^(?:[a-z]+\/[\w.+-]+(?:\s*;.*)?|\{[^{}]+\})$/i.test(value)
      ? undefined
      : 'write a media type, such as "image/png", or the field that names it';
  const isJson =
    body !== undefined && (encoding ?? "json") === "json" && /^application\/(?:[\w.-]+\+)?json$/.test(value);
  return isJson
    ? undefined
    : 'the body decides; only another kind of JSON is named, such as "application/merge-patch+json"';
}

/** An upstream answers a further request with the same key with what it has answered to the first one. */
const explainKey = (name: string, value: string): string | undefined =>
  name.toLowerCase() === "idempotency-key" && placeholdersOf(parseTemplate(value)).length === 0
    ? "the same for all calls, so that buyers would be sold the first one's answer: leave it out, and each call gets its own"
    : undefined;

function explainHeader(name: string, upstream: UpstreamManifest | undefined): string | undefined {
  if (!SENT_HEADER.test(name)) return 'write a header, such as "accept-language"';
  if (keysOf(upstream).some(({ header }) => header?.toLowerCase() === name.toLowerCase()))
    return "the upstream's credential is sent there: leave it out";
  const plain = name.replaceAll("_", "-"); // Some servers take both for the same.
  if (OWN.test(plain)) return "payphone writes this header itself";
  return FOREIGN.test(plain) ? "this header speaks for a caller, a payer or a proxy, and is never sent" : undefined;
}
