import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { comparableOf } from "../../../core/digest.ts";
import { isObject, type JsonObject } from "../../../core/json.ts";

/** Notes about an import, by which the next one recognizes the operator's edits. */
export interface ImportNotes {
  readonly source: string;
  /** The digest of each part as the import wrote it, by file; for `_site.yaml`, by upstream. */
  readonly files: Readonly<Record<string, Parts>>;
}

/** Digests by part: `price`, `proxy.request`, `properties.name`. */
export type Parts = Readonly<Record<string, string>>;

/** The notes file of an upstream's import. Commands do not read files whose names begin with a dot. */
export const toNotesFile = (upstream: string): string => `manifests/.imports/${upstream}.json`;

/** The notes of an earlier import of an upstream; undefined when they are missing or unreadable. */
export async function readNotes(dir: string, upstream: string): Promise<ImportNotes | undefined> {
  try {
    const found: unknown = JSON.parse(await readFile(join(dir, toNotesFile(upstream)), "utf8"));
    return isObject(found) && isObject(found.files) ? (found as unknown as ImportNotes) : undefined;
  } catch {
    return undefined;
  }
}

/** Keys whose own keys are separate parts. */
const DIVIDED = ["proxy", "hints", "properties", "key"];

/** A part of a file, and its path. */
export interface Part {
  readonly path: readonly string[];
  readonly value: unknown;
}

/** The parts of a file by name: the units in which an operator's edits are kept. */
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

/** Equal for equal JSON, whatever the order of keys. */
export const toPartDigest = (value: unknown): string =>
  hash("sha256", comparableOf(value) || "undefined", "base64url").slice(0, 16);
