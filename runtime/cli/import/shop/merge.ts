import type { JsonObject } from "../../../core/json.ts";
import { type Parts, toPartDigest, toParts } from "./notes.ts";

/** A part of a file that an import changes, or keeps because the operator has edited it. */
export interface PartChange {
  readonly name: string;
  readonly path: readonly string[];
  /** Undefined when the file lacks the part. */
  readonly before: unknown;
  /** Undefined when the part is removed. */
  readonly after: unknown;
}

/** The effect of a repeated import on a file. */
export interface Merged {
  readonly changes: readonly PartChange[];
  /** Parts that the operator has edited; `after` is the source's new value. */
  readonly kept: readonly PartChange[];
}

/**
 * Merges a file with the source's new content. Parts that were not edited since the last import follow the source;
 * edited parts stay.
 * @param base the digests of the last import.
 */
export function mergeFile(current: JsonObject, wanted: JsonObject, base: Parts): Merged {
  const [now, next] = [toParts(current), toParts(wanted)];
  const changes: PartChange[] = [];
  const kept: PartChange[] = [];
  for (const name of new Set([...now.keys(), ...next.keys()])) {
    const [before, after] = [now.get(name), next.get(name)];
    const [own, theirs, last] = [before && toPartDigest(before.value), after && toPartDigest(after.value), base[name]];
    if (own === theirs) continue;
    const { path } = before ?? after ?? { path: [] };
    const change = { name, path, before: before?.value, after: after?.value };
    if (own === last) changes.push(change);
    else if (theirs !== last && last !== undefined) kept.push(change);
  }
  return { changes, kept };
}
