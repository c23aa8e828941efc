import type { Cache, Clock } from "../../api/capabilities.ts";
import { digestOf, digestOfInput } from "../../core/digest.ts";
import { isObject, type JsonObject } from "../../core/json.ts";
import { fieldOf } from "../../core/proxy/template.ts";
import type { Schema } from "../../core/schema/validator.ts";
import type { Manifest } from "../../core/set/manifest.ts";

export interface CachedOptions {
  readonly manifest: Manifest;
  /** The output's schema. */
  readonly output: Schema;
  /** The upstream's `urlDigest`; undefined when the input names the address. */
  readonly urlDigest: string | undefined;
  readonly cache: Cache;
  readonly clock: Clock;
}

/** The work on an input. @param order see `keyed` */
export type Work = (input: JsonObject, signal: AbortSignal, order: string) => Promise<unknown>;

/**
 * Caches results for the time in `proxy.cache`, and adds their age. A changed manifest, a changed schema and another URL
 * of the upstream start with an empty cache.
 */
export function createCachedWork(work: Work, { manifest, output, urlDigest, cache, clock }: CachedOptions): Work {
  const { proxy } = manifest;
  if (!proxy?.cache) return work;
  const { seconds, by } = proxy.cache;
  const terms = digestOf([proxy, urlDigest ?? null, ...documentsOf(output)]);

  return async (input, signal, order) => {
    const fields = by ? fieldsOf(input, by) : input;
    const key = digestOfInput([terms, fields]);
    const options = { ttlMs: seconds * 1000, signal };
    const { value, storedAt } = await cache.remember<object>(key, options, async (shared) => {
      const made = await work(input, shared, order);
      return made as object; // As the output's schema says.
    });
    return { ...value, age_seconds: Math.max(0, Math.floor((clock.now() - storedAt) / 1000)) };
  };
}

/** The fields of these names, and those that a placeholder such as `{place.city}` may stand for as well. */
function fieldsOf(input: JsonObject, names: readonly string[]): JsonObject {
  const taken = names.map(fieldOf);
  return Object.fromEntries(Object.entries(input).filter(([name]) => taken.includes(fieldOf(name))));
}

/** The schema, and all that it refers to. */
function documentsOf({ document, nodes }: Schema): readonly unknown[] {
  const references = [...nodes.reach(document)].filter((node) => isObject(node) && "$ref" in node);
  return [document, ...new Set(references.map((node) => nodes.resolve(node as JsonObject)))];
}
