import { isCollection, isObject } from "../json.ts";
import { readText } from "./answer.ts";

const LONGEST = 300;
/** The fields in which APIs put error messages, in small letters, the most specific first. */
const FIELDS = [
  ...["message", "error_description", "detail", "error", "title", "errors", "reason", "msg"],
  ...["errormessage", "errormessages", "messages", "faultstring", "fault"],
];
const PAGE = /^\s*(?:<!doctype|<html|<\?xml)/i;
const MARKUP = /^\s*(?:<!doctype|<html|<\?xml|<[a-z]+[\s>])/i;

/** The error message in an upstream's answer: at most 300 characters, one line, no markup; or undefined. */
export function messageOf(type: string | null, text: string): string | undefined {
  const value = readText(text);
  const isPage = /html|xml/i.test(type ?? "") && !isCollection(value);
  return isPage || MARKUP.test(text) ? undefined : toLine(find(value, 0) ?? "");
}

/** The error message in a part of an upstream's answer, as `messageOf`: a text there may have markup, and be no page. */
export function messageIn(part: unknown): string | undefined {
  if (typeof part === "string" && PAGE.test(part)) return undefined;
  return toLine(find(typeof part === "string" ? readText(part) : part, 0) ?? "");
}

/** A text of an upstream for callers: at most 300 characters, one line, no markup; undefined when nothing is left. */
export function toLine(text: string): string | undefined {
  const line = text
    .replaceAll(/<[^<>]*>/g, "")
    .replaceAll(/[\p{C}\p{Z}\s]+/gu, " ")
    .trim();
  if (line === "") return undefined;
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 1).replace(/[\ud800-\udbff]$/, "")}…` : line;
}

function find(value: unknown, depth: number): string | undefined {
  if (typeof value === "string") return value;
  if (depth > 3) return undefined;
  if (Array.isArray(value)) return find(value[0], depth + 1);
  if (!isObject(value)) return undefined;
  const parts = new Map(Object.entries(value).map(([name, part]) => [name.toLowerCase(), part]));
  for (const field of FIELDS) {
    const found = find(parts.get(field), depth + 1);
    if (found) return found;
  }
  return undefined;
}
