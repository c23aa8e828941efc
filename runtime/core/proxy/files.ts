import { randomUUID } from "node:crypto";
import { isObject, type JsonObject } from "../json.ts";
import { asItIs } from "./encoding.ts";
import type { Placeholder } from "./template.ts";
import { toBadValue, toEncoded, toPlace } from "./values.ts";

interface FormFile {
  readonly name: string;
  readonly media: string;
  readonly bytes: Uint8Array;
}

/**
 * A form with files (RFC 7578), written as browsers write it: a list becomes several parts of one name. A mapping
 * becomes JSON, and is called so (OpenAPI 3.1, "Encoding Object"): some frameworks read it only then.
 * @param files the fields that are files.
 * @throws Problem `invalid-input` for an invalid file, or an integer that is not exact.
 */
export function toMultipart(
  fields: JsonObject,
  files: readonly string[],
): { readonly type: string; readonly content: Uint8Array } {
  const boundary = `payphone-${randomUUID()}`;
  const parts = Object.entries(fields).flatMap(([name, value]) =>
    [value ?? []].flat().flatMap((item) => {
      const { head, body } = files.includes(name) ? toFilePart(toFormFile(item, name)) : toPart(item, name);
      return [`--${boundary}\r\nContent-Disposition: form-data; name="${toQuoted(name)}"${head}\r\n\r\n`, body, "\r\n"];
    }),
  );
  const content = Buffer.concat([...parts, `--${boundary}--\r\n`].map((part) => Buffer.from(part)));
  return { type: `multipart/form-data; boundary=${boundary}`, content };
}

/** The rest of a part's head, after its name, and its body. */
interface Part {
  readonly head: string;
  readonly body: string | Uint8Array;
}

const toFilePart = ({ name, media, bytes }: FormFile): Part => ({
  head: `; filename="${toQuoted(name)}"\r\nContent-Type: ${media}`,
  body: bytes,
});

function toPart(value: unknown, name: string): Part {
  if (isObject(value) || Array.isArray(value))
    return { head: "\r\nContent-Type: application/json", body: JSON.stringify(value) };
  return { head: "", body: toEncoded(value, toPlace(name), asItIs).replaceAll(/\r?\n|\r/g, "\r\n") };
}

/** HTML, "multipart/form-data encoding algorithm". */
const toQuoted = (name: string): string => name.replaceAll(/\r?\n|\r/g, "%0D%0A").replaceAll('"', "%22");

const MEDIA = /^[a-z]+\/[a-z0-9][a-z0-9.+-]*$/i;
/** Control characters and path separators, and the names `.` and `..`. */
const NAME_FORBIDDEN = /[\p{Cc}/\\]|^\.{0,2}$/u;
const LONGEST_NAME = 200;

/** A file as callers send it: `{ data, name, media }`, or only its base64. */
function toFormFile(value: unknown, field: string): FormFile {
  const { data = value, name = field, media = "application/octet-stream" } = isObject(value) ? value : {};
  const place = toPlace(field);
  const bytes = toBytes(data, place);
  if (typeof name !== "string" || NAME_FORBIDDEN.test(name) || name.length > LONGEST_NAME || !name.isWellFormed())
    throw toBadValue(place, name, "its name must be the name of a file, without a folder");
  if (typeof media !== "string" || !MEDIA.test(media))
    throw toBadValue(place, media, 'its media is a media type, such as "image/png"');
  return { name, media: media.toLowerCase(), bytes };
}

/** Bytes from their base64 (RFC 4648, section 4), padded or not. @throws Problem `invalid-input` for anything else. */
export function toBytes(value: unknown, place: Placeholder): Uint8Array {
  const bytes = Buffer.from(typeof value === "string" ? value : "", "base64");
  const isSame = typeof value === "string" && toUnpadded(bytes.toString("base64")) === toUnpadded(value);
  if (!isSame) throw toBadValue(place, value, "it must be a file in base64");
  return bytes;
}

const toUnpadded = (text: string): string => text.replace(/={1,2}$/, "");
