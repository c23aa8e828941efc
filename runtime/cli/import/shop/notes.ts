import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import canonicalize from "canonicalize";
import { isObject, type JsonObject } from "../../../core/json.ts";

/** What an import wrote, so that the next one can tell what the operator has changed since. */
export interface ImportNotes {
  /** What was read. */
  readonly source: string;
  /** By file, and for `_site.yaml` by upstream: the digest of each part, as the import made it. */
  readonly files: Readonly<Record<string, Parts>>;
}

/** Digests by part: `price`, `proxy.request`, `properties.name`. */
export type Parts = Readonly<Record<string, string>>;

/** Where the notes of an upstream's import are; commands read no file whose name begins with a dot. */
export const toNotesFile = (upstream: string): string => `manifests/.imports/${upstream}.json`;

/** The notes of an earlier import of an upstream; undefined when there are none that can be read. */
export async function readNotes(dir: string, upstream: string): Promise<ImportNotes | undefined> {
  try {
    const found: unknown = JSON.parse(await readFile(join(dir, toNotesFile(upstream)), "utf8"));
    return isObject(found) && isObject(found.files) ? (found as unknown as ImportNotes) : undefined;
  } catch {
    return undefined;
  }
}

/** The keys whose own keys are parts by themselves. */
const DIVIDED = ["proxy", "hints", "properties", "key"];

/** A part of a file, and where it stands. */
export interface Part {
  readonly path: readonly string[];
  readonly value: unknown;
}

/** The parts of a file, by name. Operators edit parts, and imports leave edited ones alone. */
export function toParts(data: JsonObject): ReadonlyMap<string, Part> {
  const parts = new Map<string, Part>();
  for (const [key, value] of Object.entries(data)) {
    if (!DIVIDED.includes(key) || !isObject(value)) parts.set(key, { path: [key], value });
    else
      for (const [name, part] of Object.entries(value)) parts.set(`${key}.${name}`, { path: [key, name], value: part });
  }
  return parts;
}

/** The digests of a file's parts. */
export const toDigests = (data: JsonObject): Parts =>
  Object.fromEntries([...toParts(data)].map(([name, { value }]) => [name, toPartDigest(value)]));

/** Equal for equal JSON, whatever the order of its keys. */
export const toPartDigest = (value: unknown): string =>
  createHash("sha256")
    .update(canonicalize(value) ?? "undefined")
    .digest("base64url")
    .slice(0, 16);
