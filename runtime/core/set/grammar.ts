import { didYouMean } from "./did-you-mean.ts";
import type { FaultCode } from "./faults.ts";
import { isPrice } from "./price.ts";
import { explainRoute } from "./route.ts";

/** A strict grammar: returns what is wrong with a text, or nothing. */
export type Grammar = (text: string) => string | undefined;

const byPattern =
  (pattern: RegExp, complaint: string): Grammar =>
  (text) =>
    pattern.test(text) ? undefined : complaint;

/** The name of a header (RFC 9110, section 5.1), without the signs that no API uses. */
export const SENT_HEADER = /^[A-Za-z0-9][\w.-]*$/;

/** The variables of payphone's own keys and settings; plugins never get them. */
const OWN_VARIABLES = /^(?:BUYER|CDP|FACILITATOR|NODE|PAYPHONE|REDIS|TREASURY)_/;

/** Every `format` of `schemas/manifest.json` and `schemas/site.json`, with the code of its faults. */
export const GRAMMARS: Readonly<Record<string, { readonly code: FaultCode; readonly explain: Grammar }>> = {
  account: {
    code: "bad-account",
    explain: byPattern(
      /^(?:0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/,
      "write an EVM address (0x and 40 hex digits) or a Solana address (32 bytes in base58)",
    ),
  },
  amount: { code: "bad-amount", explain: explainAmount },
  currency: {
    code: "bad-word",
    explain: byPattern(/^[a-z]{3}$/, 'write the three letters of a currency in lower case, such as "eur"'),
  },
  explorer: { code: "bad-explorer", explain: (text) => explainExplorer(text, "tx") },
  "explorer-address": { code: "bad-explorer", explain: (text) => explainExplorer(text, "address") },
  handler: {
    code: "bad-handler",
    explain: byPattern(
      /^[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*\.[A-Za-z][A-Za-z0-9_]*$/,
      'write the plugin, a dot and its handler: "roll.roll" is the handler "roll" of plugins/roll.ts',
    ),
  },
  header: { code: "bad-header", explain: byPattern(SENT_HEADER, 'write a header, such as "x-api-key"') },
  id: {
    code: "bad-id",
    explain: byPattern(
      /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/,
      'at most 64 letters, digits, "_", "." and "-" are allowed, a letter or digit first',
    ),
  },
  "lent-variable": { code: "bad-variable", explain: explainLentVariable },
  network: { code: "bad-network", explain: explainNetwork },
  "proxy-request": {
    code: "bad-request",
    explain: explainRequest,
  },
  "public-url": { code: "bad-url", explain: (text) => explainUrl(text) ?? explainCredentials(text) },
  route: { code: "bad-route", explain: explainRoute },
  "schema-name": {
    code: "bad-schema-name",
    explain: byPattern(
      /^[A-Z][A-Za-z0-9]*$/,
      'write the name of a file in schemas/ without ".json": a capital letter, then letters and digits',
    ),
  },
  text: { code: "bad-text", explain: explainText },
  title: { code: "bad-text", explain: byPattern(/^[ -~]*$/, "only printable ASCII characters are allowed") },
  url: { code: "bad-url", explain: explainUrl },
  variable: { code: "bad-variable", explain: explainVariable },
  version: { code: "bad-version", explain: byPattern(/^\d+\.\d+\.\d+$/, 'write three numbers, such as "0.3.0"') },
  word: {
    code: "bad-word",
    explain: byPattern(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, "only lower-case letters, digits and single dashes are allowed"),
  },
};

const METHODS: readonly string[] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

function explainRequest(text: string): string | undefined {
  if (/^(?:GET|POST|PUT|PATCH|DELETE) [/{]\S*$/.test(text)) return undefined;
  if (/^[A-Z]+ https?:/.test(text)) return "the upstream's URL belongs in _site.yaml: write the path below it";
  const [method = "", path = ""] = text.split(" ");
  if (METHODS.includes(method) && /^[/{]/.test(path))
    return "has a space in its path: write {name}, and %20 for a space";
  const meant = METHODS.includes(method) ? "" : didYouMean(method.toUpperCase(), METHODS);
  return `write a method and a path, such as "GET /v1/rates/{date}"${meant}`;
}

function explainAmount(text: string): string | undefined {
  if (isPrice(text)) return undefined;
  if (/^0+(\.0*)?$/.test(text)) return "must be more than zero; what is free has no price at all";
  return 'write a plain decimal number of at most 18 decimals, such as "0.01"';
}

/** Challenges contain descriptions, and some clients encode challenges with `btoa`, which throws beyond Latin-1. */
function explainText(text: string): string | undefined {
  const [found] = /[^\0-\xff]/u.exec(text) ?? [];
  if (found === undefined) return undefined;
  return `${JSON.stringify(found)} is beyond Latin-1 (U+0000 to U+00FF), which is all that some clients can encode`;
}

function explainUrl(text: string): string | undefined {
  const protocol = URL.canParse(text) ? new URL(text).protocol : "";
  return /^https?:$/.test(protocol) ? undefined : 'write a whole URL, such as "https://example.com"';
}

/** What everybody can read must hold no password. */
function explainCredentials(url: string): string | undefined {
  const { username, password } = new URL(url);
  return username + password === "" ? undefined : "is published: leave out the user name and password before the @";
}

const URI = /^(?:[\w.~:/?#[\]@!$&'()*+,;=-]|%[0-9a-f]{2})+$/i;

function explainExplorer(text: string, name: "tx" | "address"): string | undefined {
  const parts = text.split(`{${name}}`);
  // Answers contain these URLs, and their schemas require URIs (RFC 3986).
  const url = parts.join(name);
  if (parts.length === 2 && !explainUrl(url) && URI.test(url)) return explainCredentials(url);
  return `write a URL with {${name}} in it once, such as "https://basescan.org/${name}/{${name}}"`;
}

const NETWORK = /^(?:eip155:[1-9]\d{0,17}|solana:[1-9A-HJ-NP-Za-km-z]{32})$/;

function explainNetwork(text: string): string | undefined {
  if (NETWORK.test(text)) return undefined;
  const [namespace = ""] = text.split(":");
  const meant = namespace === "eip155" || namespace === "solana" ? "" : didYouMean(namespace, ["eip155", "solana"]);
  return `write a CAIP-2 network: "eip155:" and the chain's number, or "solana:" and 32 characters of its genesis hash${meant}`;
}

function explainVariable(text: string): string | undefined {
  if (/^[A-Z][A-Z0-9_]{0,127}$/.test(text)) return undefined;
  return "write the name of an environment variable: capital letters, digits and underscores";
}

function explainLentVariable(text: string): string | undefined {
  if (OWN_VARIABLES.test(text)) return "holds payphone's own keys or settings, which no plugin is ever lent";
  return explainVariable(text);
}
