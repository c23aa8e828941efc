import { isObject, type JsonObject } from "../json.ts";
import type { Placeholder } from "./template.ts";
import { toBadValue } from "./values.ts";

/** One part of `multipart/form-data` (RFC 7578). */
export interface FormPart {
  readonly name: string;
  readonly value: string | FormFile;
}

/** A file of a form. */
export interface FormFile {
  readonly name: string;
  readonly media: string;
  readonly bytes: Uint8Array;
}

/**
 * The parts of a form: a list becomes several parts of one name, a mapping becomes JSON text.
 * @param files the fields that are files.
 * @throws Problem `invalid-input` for an invalid file.
 */
export const toFormParts = (fields: JsonObject, files: readonly string[]): readonly FormPart[] =>
  Object.entries(fields).flatMap(([name, value]) =>
    [value ?? []]
      .flat()
      .map((item) => ({ name, value: files.includes(name) ? toFormFile(item, name) : toPartText(item) })),
  );

const toPartText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

const MEDIA = /^[a-z]+\/[a-z0-9][a-z0-9.+-]*$/i;
/** Control characters and path separators, and the names `.` and `..`. */
const NAME_FORBIDDEN = /[\p{Cc}/\\]|^\.{0,2}$/u;
const LONGEST_NAME = 200;

/** A file as callers send it: `{ data, name, media }`, or only its base64. */
function toFormFile(value: unknown, field: string): FormFile {
  const { data = value, name = field, media = "application/octet-stream" } = isObject(value) ? value : {};
  const place: Placeholder = { text: field, name: field, source: "input", isExploded: false };
  const bytes = toBytes(data, place);
  if (typeof name !== "string" || NAME_FORBIDDEN.test(name) || name.length > LONGEST_NAME || !name.isWellFormed())
    throw toBadValue(place, name, "its name is the name of a file, without a folder");
  if (typeof media !== "string" || !MEDIA.test(media))
    throw toBadValue(place, media, 'its media is a media type, such as "image/png"');
  return { name, media: media.toLowerCase(), bytes };
}

/** Bytes from their base64 (RFC 4648, section 4), padded or not. @throws Problem `invalid-input` for anything else. */
export function toBytes(value: unknown, place: Placeholder): Uint8Array {
  const bytes = Buffer.from(typeof value === "string" ? value : "", "base64");
  const isSame = typeof value === "string" && toUnpadded(bytes.toString("base64")) === toUnpadded(value);
  if (!isSame) throw toBadValue(place, value, "it is a file, in base64");
  return bytes;
}

const toUnpadded = (text: string): string => text.replace(/={1,2}$/, "");
