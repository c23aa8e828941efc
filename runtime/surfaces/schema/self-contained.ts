import { isObject, type JsonObject } from "../../core/json.ts";
import { createSchemaNodes, type Resolve } from "../../core/schema/nodes.ts";
import type { Service } from "../../core/service.ts";

/**
 * Keywords whose values are data, and keywords whose values map names to schemas. All other keywords hold schemas or
 * plain values.
 */
const DATA = ["const", "default", "enum", "examples"];
const MAPPINGS = ["properties", "patternProperties", "dependentSchemas"];
/** Keywords that have a meaning only in their own document. */
const LOCAL = ["$schema", "$id", "$defs", "$comment"];
/** Keywords that do not narrow a `$ref` beside them. */
const ANNOTATIONS = ["title", "description", "default", "examples", "deprecated"];

const MOST_INLINED = 200;

/** Cached by document: every surface shows the same schemas, and a document only refers to schemas of its own set. */
const written = new WeakMap<object, JsonObject>();

/** Makes a schema of a service self-contained. */
export type InlineSchema = (document: object) => JsonObject;

/** @param schemas the set's schemas by name, for the `$ref`s between them. */
export function createSchemaInliner(services: readonly Service[], schemas: ReadonlyMap<string, object>): InlineSchema {
  const { resolve, add } = createSchemaNodes(schemas);
  for (const { input, output } of services) for (const { document } of [input, output]) add(document);
  return (document) => toSelfContained(document, resolve);
}

/**
 * The schema with its references replaced by the referenced schemas, since clients must not fetch (MCP 2026-07-28,
 * "$ref Resolution"). A schema that contains itself is placed once in `$defs`, and so are those beyond the first
 * `MOST_INLINED`: of schemas that share parts, a few hundred can make 100 MB.
 */
export function toSelfContained(document: object, resolve: Resolve): JsonObject {
  const whole = written.get(document) ?? writeOut(document, resolve);
  written.set(document, whole);
  return whole;
}

function writeOut(document: object, resolve: Resolve): JsonObject {
  const defined = new Map<unknown, string>();
  let inlined = 0;
  const whole = inline(document, [document]) as JsonObject;
  const definitions = [...definedBy(defined)];
  return definitions.length === 0 ? whole : { ...whole, $defs: Object.fromEntries(definitions) };

  /** Inlining one definition may add another, which the iteration then also visits. */
  function* definedBy(found: ReadonlyMap<unknown, string>): Generator<[string, unknown]> {
    for (const [target, name] of found) yield [name, inline(target, [target])];
  }

  function inline(node: unknown, trail: readonly unknown[]): unknown {
    if (Array.isArray(node)) return node.map((part) => inline(part, trail));
    if (!isObject(node)) return node;
    const own = Object.entries(node).filter(([key]) => key !== "$ref" && !LOCAL.includes(key));
    const rest = Object.fromEntries(own.map(([key, value]) => [key, inlineValue(key, value, trail)]));
    if (typeof node.$ref !== "string") return rest;
    const target = refer(node, trail);
    if (isObject(target) && own.every(([key]) => ANNOTATIONS.includes(key))) return { ...target, ...rest };
    return { ...rest, allOf: [...((rest.allOf as unknown[] | undefined) ?? []), target] };
  }

  function inlineValue(key: string, value: unknown, trail: readonly unknown[]): unknown {
    if (DATA.includes(key)) return value;
    if (!MAPPINGS.includes(key) || !isObject(value)) return inline(value, trail);
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, inline(part, trail)]));
  }

  function refer(node: JsonObject, trail: readonly unknown[]): unknown {
    const target = resolve(node);
    const isRecursive = trail.includes(target);
    if (!isRecursive && inlined++ < MOST_INLINED) return inline(target, [...trail, target]);
    const name = defined.get(target) ?? `${isRecursive ? "Recursive" : "Shared"}${defined.size + 1}`;
    defined.set(target, name);
    return { $ref: `#/$defs/${name}` };
  }
}
