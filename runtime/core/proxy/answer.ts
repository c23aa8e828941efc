import { isObject } from "../json.ts";
import type { ProxyManifest } from "../upstream/manifest.ts";
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

function toRenamed(value: Readonly<Record<string, unknown>>, names: Readonly<Record<string, string>>): object {
  const entries = Object.entries(value).map(([name, part]) => [Object.hasOwn(names, name) ? names[name] : name, part]);
  return Object.fromEntries(entries) as object;
}

/**
 * Reads the body of an answer: JSON, server-sent events, or text.
 * @returns undefined for an HTML page, which is not an answer of an API, for bytes that are not text, and for what is
 *   said to be JSON and is not.
 */
export function readBody(type: string | null, body: Uint8Array): unknown {
  const [media = ""] = (type ?? "").toLowerCase().split(";");
  const text = toText(type, body);
  const isPage = /html/.test(media) || (media === "" && PAGE.test(text ?? ""));
  if (isPage || text === undefined) return undefined;
  if (media.trim() === "text/event-stream") return { events: toEvents(text).map(readText) };
  if (/ndjson|jsonl|json-seq/.test(media))
    return {
      lines: text
        .split(/\n|\p{Cc}/u)
        .filter(Boolean)
        .map(readText),
    };
  const value = readText(text);
  return value === text && text !== "" && JSON_TYPE.test(media) ? undefined : value;
}

/** Whether an answer has no body although its status and type promise one. */
export const lacksBody = (status: number, type: string | null, body: Uint8Array): boolean =>
  body.length === 0 && status !== 204 && status !== 205 && !/^text\//i.test(type ?? "");

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*$/;
const PAGE = /^\s*<(?:!doctype\s+html|html)[\s>]/i;
const UTF8 = "utf-8";

/** The text in the charset of its type, or UTF-8, without a byte order mark. */
function toText(type: string | null, body: Uint8Array): string | undefined {
  const [, charset = UTF8] = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(type ?? "") ?? [];
  try {
    return toDecoder(charset).decode(body);
  } catch {
    return undefined;
  }
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
export function readText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The data of each event (HTML Standard, section 9.2.6), without the `[DONE]` that some APIs end with. */
const toEvents = (text: string): string[] =>
  text
    .split(/\r\n\r\n|\n\n|\r\r/)
    .map((event) =>
      event
        .split(/\r\n|\n|\r/)
        .flatMap((line) => /^data: ?(.*)$/.exec(line)?.[1] ?? [])
        .join("\n"),
    )
    .filter((data) => data !== "" && data !== "[DONE]");
