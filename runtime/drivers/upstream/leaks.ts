import type { Address } from "./question.ts";

/** Shorter credentials are ignored: an answer may contain them by chance. */
const SHORTEST = 6;

/** Whether an answer contains a credential of its upstream, plain, escaped, or in UTF-16. */
export type RepeatsCredential = (answer: Uint8Array) => boolean;

/** @param others credentials besides those in headers */
export function createLeakCheck({ headers }: Pick<Address, "headers">, others: readonly string[]): RepeatsCredential {
  const parts = Object.values(headers).flatMap((value) => [value, ...value.split(" ").slice(1).flatMap(withDecoded)]);
  const secrets = [...parts, ...others].filter((secret) => secret.length >= SHORTEST);
  const forms = [...new Set(secrets.flatMap(toForms))];
  const needles = forms.flatMap(toBytes);
  if (needles.length === 0) return () => false;
  const isFound = (bytes: Buffer): boolean => needles.some((needle) => bytes.includes(needle));
  return (answer) => {
    const bytes = Buffer.from(answer.buffer, answer.byteOffset, answer.byteLength);
    if (isFound(bytes)) return true;
    if (!bytes.includes("\\") && !bytes.includes("%")) return false;
    const text = bytes.toString();
    const read = unescapeJson(text);
    return [read, unescapeUrl(read)].some((plain) => plain !== text && forms.some((form) => plain.includes(form)));
  };
}

/** Adds the password of a Basic credential, or its user name where that is the key: `key:` without a password. */
function withDecoded(text: string): string[] {
  const decoded = Buffer.from(text, "base64").toString();
  const [, user = "", password = ""] = /^([^:]*):(.*)$/s.exec(decoded) ?? [];
  return [text, password || user];
}

const toForms = (secret: string): string[] => [
  secret,
  encodeURIComponent(secret),
  Buffer.from(secret).toString("base64").replace(/=+$/, ""),
  JSON.stringify(secret).slice(1, -1),
];

/** In UTF-8, and in UTF-16 of both byte orders. */
const toBytes = (text: string): Buffer[] => [
  Buffer.from(text),
  Buffer.from(text, "utf16le"),
  Buffer.from(text, "utf16le").swap16(),
];

const unescapeJson = (text: string): string =>
  text
    .replaceAll(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll("\\/", "/");

/** Of URLs: some sources escape more characters than others do, or write `%2f`. */
const unescapeUrl = (text: string): string =>
  text.replaceAll(/%([2-7][0-9a-f])/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
