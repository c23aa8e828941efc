import type { JsonObject } from "../../../core/json.ts";
import { type Parts, toPartDigest, toParts } from "./notes.ts";

/** One part of a file that an import changes, or leaves as the operator has made it. */
export interface PartChange {
  readonly name: string;
  readonly path: readonly string[];
  /** Undefined where there is none. */
  readonly before: unknown;
  /** Undefined for a part that is taken away. */
  readonly after: unknown;
}

/** What a second import does to a file. */
export interface Merged {
  readonly changes: readonly PartChange[];
  /** Parts that the operator has changed; `after` is what the source says. */
  readonly kept: readonly PartChange[];
}

/**
 * Compares a file with what the source says now. What was not edited since the last import follows the source; what was
 * edited stays.
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
