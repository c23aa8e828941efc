import { isCollection, isObject, parseDigits, tryParseJson } from "../json.ts";
import type { ProxyManifest } from "../set/manifest.ts";
import { isMistaken, PAGE_START, partsField, toMediaType } from "./media.ts";
import { valueAt } from "./pointer.ts";

/** How an answer becomes an output. */
export type AnswerTerms = NonNullable<ProxyManifest["answer"]>;

/** The largest answer when the manifest sets no limit. */
export const ANSWER_BYTES = 1_048_576;

/** The wanted part of an upstream's answer, with the output's names; undefined when the answer has no such part. */
export function toOutput(answer: unknown, { pick, rename, wrap }: AnswerTerms = {}): unknown {
  const picked = pick === undefined ? answer : valueAt(answer, pick);
  if (picked === undefined) return undefined;
  const named = rename && isObject(picked) ? toRenamed(picked, rename) : picked;
  return wrap === undefined ? named : { [wrap]: named };
}

/** A renamed field takes the place of one that has its new name already, whichever comes first. */
function toRenamed(value: Readonly<Record<string, unknown>>, names: Readonly<Record<string, string>>): object {
  const isRenamed = ([name]: [string, unknown]): boolean => Object.hasOwn(names, name);
  const entries = Object.entries(value);
  const renamed = entries.filter(isRenamed).map(([name, part]) => [names[name], part]);
  return Object.fromEntries([...entries.filter((entry) => !isRenamed(entry)), ...renamed]);
}

/** How a body that is JSON, although its media type does not say so, is read: as its value, or as the text itself. */
export type ReadPlainText = (value: unknown, text: string) => unknown;

const asValue: ReadPlainText = (value) => value;

/**
 * The ways to read such bodies, tried in this order until the output fits its schema: numbers as values only where that
 * loses nothing (`1.10` is a version, and wei have many digits), all values, all but numbers, and texts alone. Mappings
 * and lists are always values, since they may report a failure.
 */
export const READINGS = [
  (value, text) => (typeof value === "number" && String(value) !== text.trim() ? text : value),
  asValue,
  (value, text) => (typeof value === "number" ? text : value),
  (value, text) => (isCollection(value) ? value : text),
] as const satisfies readonly ReadPlainText[];

/**
 * Reads the body of an answer: JSON, server-sent events, lines of JSON, or text.
 * @returns undefined for an HTML page, which is not an answer of an API, for bytes that are not text, for what is said
 *   to be JSON and is not, and for a stream of no events, or that ends within an event or with an error.
 */
export function readBody(type: string | null, body: Uint8Array, reading: ReadPlainText = READINGS[0]): unknown {
  const media = toMediaType(type);
  const parts = partsField(type);
  const text = toText(type, body);
  // PHP calls JSON so where a script names no type.
  const isPage = /html/.test(media)
    ? !isCollection(tryParseJson(text ?? ""))
    : media === "" && PAGE_START.test(text ?? "");
  if (isPage || text === undefined || isMistaken(media, text)) return undefined;
  if (parts === "events") return toEvents(text, reading);
  if (parts === "lines") return toLines(text);
  if (!isJson(type)) return readText(text, reading);
  const value = readText(text);
  return value === text && text !== "" && tryParseJson(text) === undefined ? undefined : value;
}

/** Whether a file is not the JSON or the stream that its type says, or only its beginning; other types do not tell. */
export const isBroken = (type: string | null, body: Uint8Array): boolean =>
  (isJson(type) || partsField(type) !== undefined) && readBody(type, body) === undefined;

/** Whether an answer is a fault (SOAP 1.2, part 1, section 5.4): many servers send it with status 200. */
export function isSoapFault(type: string | null, body: Buffer): boolean {
  if (!toMediaType(type).includes("xml") || !SOAP.some((namespace) => body.includes(namespace))) return false;
  return /<(?:[\w.-]+:)?Body(?:\s[^<>]*)?>\s*<(?:[\w.-]+:)?Fault[\s/>]/.test(body.toString("latin1"));
}

const SOAP = ["http://schemas.xmlsoap.org/soap/envelope/", "http://www.w3.org/2003/05/soap-envelope"];

/** Whether a body says that it is JSON (RFC 6839, section 3.1), so that there is one way to read it. */
export const isJson = (type: string | null): boolean => /^[\w.-]+\/(?:[\w.+-]+\+)?json$/.test(toMediaType(type));

/** Whether an answer has no body although its status and type promise one. */
export const lacksBody = (status: number, type: string | null, body: Uint8Array): boolean =>
  body.length === 0 && status !== 204 && status !== 205 && (isJson(type) || !/^text\//i.test(type ?? ""));

const UTF8 = "utf-8";

/** The text in the charset of its type, or else in UTF-8 or the charset that XML declares; without a byte order mark. */
function toText(type: string | null, body: Uint8Array): string | undefined {
  const [, named] = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(type ?? "") ?? [];
  // A byte order mark comes before what is named: "utf-16" alone would be read as little-endian (Encoding Standard, "decode").
  const marked = body[0] === 0xfe && body[1] === 0xff ? "utf-16be" : named;
  for (const charset of marked === undefined ? [UTF8, declaredIn(body)] : [marked])
    try {
      return toDecoder(charset).decode(body);
    } catch {
      // The next charset is tried.
    }
  return undefined;
}

/** The charset in an XML declaration; not UTF-16, in which the declaration itself could not be read so. */
function declaredIn(body: Uint8Array): string {
  const start = new TextDecoder("latin1").decode(body.subarray(0, 200));
  return /^<\?xml\s[^>]*\sencoding\s*=\s*["'](?!utf)([\w.-]+)/i.exec(start)?.[1] ?? UTF8;
}

/** Unknown charsets count as UTF-8. */
function toDecoder(charset: string): { decode(bytes: Uint8Array): string } {
  try {
    return new TextDecoder(charset, { fatal: true });
  } catch {
    return new TextDecoder(UTF8, { fatal: true });
  }
}

/** The value of a JSON text; any other text is a value itself. */
export function readText(text: string, reading: ReadPlainText = asValue): unknown {
  try {
    return reading(parseDigits(text), text);
  } catch {
    return text;
  }
}

/**
 * The data of each event (HTML Standard, section 9.2.6), without the `[DONE]` that some APIs end with; undefined when
 * the stream has no such data, was cut off, has an event of the type `error`, or ends with nothing but an error. Its last
 * event may lack its end where the data is complete all the same: a text might have had further lines.
 */
function toEvents(text: string, reading: ReadPlainText): { readonly events: readonly unknown[] } | undefined {
  const blocks = text.replaceAll(/\r\n?/g, "\n").split("\n\n");
  const data = blocks.map(toData);
  const last = data.at(-1) ?? "";
  const end = blocks.at(-1) ?? "";
  const isClosed = last === "" && /(?:^|\n)$/.test(end) && !BEGUN.test(end);
  const isWhole = isClosed || last === DONE || typeof readText(last) === "object";
  const sent = data.filter((one) => one !== "" && one !== DONE);
  const isFailed = blocks.some((block) => FAILED.test(block)) || isErrorAlone(readText(sent.at(-1) ?? ""));
  return isWhole && !isFailed && sent.length > 0 ? { events: sent.map((one) => readText(one, reading)) } : undefined;
}

/** The fields before an event's data. */
const BEGUN = /^(?:event|id):/m;
/** APIs of language models say so when they fail after the status was sent, or by `data: {"error": …}`. */
const FAILED = /^event: ?error$/m;

const isErrorAlone = (data: unknown): boolean => isObject(data) && Object.keys(data).join() === "error" && !!data.error;

const DONE = "[DONE]";

const toData = (block: string): string =>
  block
    .split("\n")
    .filter((line) => /^data(?::|$)/.test(line))
    .map((line) => line.slice("data:".length).replace(/^ /, ""))
    .join("\n");

/** The values of lines of JSON, or of a sequence of JSON texts (RFC 7464); undefined when one of them is not JSON. */
function toLines(text: string): { readonly lines: readonly unknown[] } | undefined {
  const parts = text.split(text.includes(RECORD) ? RECORD : "\n").filter((part) => part.trim() !== "");
  try {
    return { lines: parts.map(parseDigits) };
  } catch {
    return undefined;
  }
}

const RECORD = "\u001e";
