import { isObject } from "../json.ts";
import type { Draft } from "../set/draft.ts";
import { type Fault, faultAt, faultAtKey } from "../set/faults.ts";
import { type Manifest, type MediaManifest, mediaOf } from "../set/manifest.ts";

/** A file as JSON: the form in which it is recorded and shown in JSON documents. */
export interface MediaOutput {
  readonly media: string;
  /** Its bytes in base64. */
  readonly data: string;
  /** The age of a cached answer. */
  readonly age_seconds?: number;
}

const MOST_BYTES = 8_388_608;
const USUAL_BYTES = 1_048_576;
const TYPE = /^[a-z]+\/(?:\*|[a-z0-9][a-z0-9.+-]*)$/;
/** Media types that name their charset. */
const TEXT = /^text\/|[/+]xml$/;
/** Media types whose scripts a browser would run with the seller's origin. */
const ACTIVE = /html|javascript|ecmascript/;

/** Whether `output` declares a file. */
export const isMedia = (output: unknown): output is { readonly media: unknown; readonly max_bytes?: unknown } =>
  isObject(output) && "media" in output && !("properties" in output);

/** Checks `output: { media, max_bytes }`. */
export function checkMedia(draft: Draft): Fault[] {
  const { output } = draft.data;
  if (!isMedia(output)) return [];
  const { media, max_bytes: bytes, ...rest } = output;
  const faults = Object.keys(rest).map((key) =>
    faultAtKey(draft, ["output", key], "unknown-key", "a file has `media` and `max_bytes` only"),
  );
  const fail = (key: string, code: "bad-media" | "out-of-range", complaint: string): void =>
    void faults.push(faultAt(draft, ["output", key], code, complaint));
  if (typeof media !== "string" || !TYPE.test(media))
    fail("media", "bad-media", 'write a media type, such as "image/png" or "image/*"');
  else if (ACTIVE.test(media)) fail("media", "bad-media", "a page could run scripts in your name: it is not sold");
  if (bytes !== undefined && !(Number.isInteger(bytes) && Number(bytes) >= 1 && Number(bytes) <= MOST_BYTES))
    fail("max_bytes", "out-of-range", `must be a whole number from 1 to ${MOST_BYTES}`);
  return faults;
}

/** Replaces an `output` that declares a file by the schema of the file's JSON form. */
export function withMedia(draft: Draft): Draft {
  const { output, proxy } = draft.data;
  if (!isMedia(output)) return draft;
  if (checkMedia(draft).length > 0) return { ...draft, data: withoutOutput(draft.data) };
  const { media: type, max_bytes = USUAL_BYTES } = output as { media: string; max_bytes?: number }; // Checked above.
  const media = { type, max_bytes };
  return { ...draft, data: { ...draft.data, output: toMediaSchema(media, proxy?.cache !== undefined), media } };
}

function withoutOutput({ output: _faulty, ...rest }: Draft["data"]): Draft["data"] {
  return rest;
}

const toMediaSchema = ({ type, max_bytes }: MediaManifest, hasAge: boolean): object => ({
  type: "object",
  properties: {
    media: { ...toTypeSchema(type), description: "The media type of the file." },
    data: {
      type: "string",
      contentEncoding: "base64",
      maxLength: Math.ceil(max_bytes / 3) * 4,
      description: "The file, in base64.",
    },
    ...(hasAge && { age_seconds: { type: "integer", minimum: 0, description: "How old the answer is." } }),
  },
  required: ["media", "data"],
});

function toTypeSchema(type: string): object {
  if (type.endsWith("/*")) return { type: "string", pattern: `^${type.slice(0, -1)}` };
  if (!TEXT.test(type)) return { type: "string", const: type };
  return { type: "string", pattern: `^${type.replaceAll(/[.+]/g, "\\$&")}(?:;|$)` };
}

/** The file of a service's answer; undefined for JSON, such as stored answers from before the service sold files. */
export const toFile = (manifest: Pick<Manifest, "media" | "job">, output: unknown): MediaOutput | undefined => {
  const isFile = isObject(output) && typeof output.media === "string" && typeof output.data === "string";
  return mediaOf(manifest) && isFile ? (output as unknown as MediaOutput) : undefined;
};

/** The first bytes of some formats: patterns of hex digits. */
const SIGNATURES: Readonly<Record<string, readonly string[]>> = {
  "image/png": ["89504e470d0a1a0a"],
  "image/jpeg": ["ffd8ff"],
  "image/gif": ["474946383761", "474946383961"],
  "image/webp": ["52494646.{8}57454250"], // RIFF, a size, WEBP.
  "application/pdf": ["25504446"],
  "application/zip": ["504b0304", "504b0506"],
};

/** What is wrong with a file of this type, or nothing. */
export function explainMedia(media: MediaManifest, given: string | null, bytes: Uint8Array): string | undefined {
  const type = toMediaType(given);
  if (type !== "" && !TYPE.test(type)) return "its type is none";
  const isShown = isVague(media, type) && isSigned(media.type, bytes) === true;
  if ((!isWanted(media, type) && !isShown) || ACTIVE.test(type))
    return `it is ${type || "of no type"}, not ${media.type}`;
  if (bytes.length === 0) return "it is empty";
  return isSigned(type, bytes) === false ? `it is no ${type}` : undefined;
}

/** Whether a file begins as those of its type; undefined for types of which that is not known. */
function isSigned(type: string, bytes: Uint8Array): boolean | undefined {
  if (isMistaken(type, Buffer.from(bytes.subarray(0, 256)).toString())) return false;
  const head = Buffer.from(bytes.subarray(0, 16)).toString("hex");
  return SIGNATURES[type]?.some((known) => new RegExp(`^${known}`).test(head));
}

/** How a page begins. */
export const PAGE_START = /^\s*<(?:!doctype\s+html|html)[\s>]/i;
/** Types that no page is of. Others may be asked for as pages, or hold them: texts, XML, and what Excel opens. */
const NO_PAGE = /^(?:audio|font|image|model|video)\/|^text\/(?:calendar|csv|tab-separated-values|vcard)$/;

/** Whether a text is a page that is called something else, as many servers call their pages of errors. */
export const isMistaken = (type: string, text: string): boolean => NO_PAGE.test(type) && PAGE_START.test(text);

/** Types that stores and frameworks send in the place of an exact one. */
const VAGUE = [
  "application/octet-stream",
  "binary/octet-stream",
  "image/jpg",
  "application/x-pdf",
  "application/x-zip-compressed",
];

const isVague = ({ type: wanted }: MediaManifest, type: string): boolean =>
  wanted !== type && !wanted.endsWith("/*") && VAGUE.includes(type);

/** Stands for any binary file: documents name this type where the API answers with a more exact one. */
const BYTES = "application/octet-stream";
/** Texts may report a failure, or be for people. */
const READABLE = /^(?:text|message|multipart)\/|json|xml|yaml|csv|urlencoded/;

function isWanted({ type: wanted }: MediaManifest, type: string): boolean {
  if (wanted === BYTES && type !== "") return !READABLE.test(type);
  return wanted.endsWith("/*") ? type.startsWith(wanted.slice(0, -1)) : type === wanted;
}

/** What `Content-Type` may hold. Node refuses to send anything else. */
const SENDABLE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** What is wrong with a file in its form as JSON, or nothing. */
export function explainFile(wanted: MediaManifest, { media, data }: MediaOutput): string | undefined {
  if (!SENDABLE.test(media)) return `${JSON.stringify(media)} has characters that no header may have`;
  const bytes = Buffer.from(data, "base64");
  return bytes.toString("base64") === data ? explainMedia(wanted, media, bytes) : "it is not in base64";
}

/** The media type in a `Content-Type`, in lower case and without its parameters. */
export const toMediaType = (given: string | null): string => (given ?? "").split(";")[0]?.trim().toLowerCase() ?? "";

/**
 * The media type of a file, as its service declares it: with the charset of a text, unless that is UTF-8, which is what
 * readers take it for.
 */
export function toFileType(media: MediaManifest, given: string | null): string {
  const type = toMediaType(given);
  if (media.type === BYTES || isVague(media, type)) return media.type;
  const [, charset = "utf-8"] = /;\s*charset\s*=\s*"?([\w.:-]{1,40})/i.exec(given ?? "") ?? [];
  const isPlain = !TEXT.test(type) || /^(?:utf-?8|us-ascii)$/i.test(charset);
  return isPlain ? type : `${type}; charset=${charset.toLowerCase()}`;
}

/** The field of an answer that takes the parts of a stream; undefined for other types. */
export function partsField(given: string | null): "events" | "lines" | undefined {
  const type = toMediaType(given);
  if (type === "text/event-stream") return "events";
  return /ndjson|jsonl|json-seq/.test(type) ? "lines" : undefined;
}
