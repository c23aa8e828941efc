import { isObject } from "../../core/json.ts";
import type { Resolve } from "../../core/schema/nodes.ts";

type Json = Readonly<Record<string, unknown>>;

/** Keywords whose values are data, and keywords whose values give schemas names; everything else holds schemas or nothing. */
const DATA = ["const", "default", "enum", "examples"];
const MAPPINGS = ["properties", "patternProperties", "dependentSchemas"];
/** What has a meaning only in the document where it stands. */
const LOCAL = ["$schema", "$id", "$defs", "$comment"];
/** What may stand beside a `$ref` without narrowing it. */
const ANNOTATIONS = ["title", "description", "default", "examples", "deprecated"];

/** Every surface shows the same schemas. A document refers to those of its own set alone, whoever resolves that. */
const written = new WeakMap<object, Json>();

/**
 * The schema with everything that it refers to written into it, since clients must not fetch (MCP 2026-07-28, "$ref
 * Resolution"). What contains itself stands once in `$defs`.
 */
export function toSelfContained(document: object, resolve: Resolve): Json {
  const whole = written.get(document) ?? writeOut(document, resolve);
  written.set(document, whole);
  return whole;
}

function writeOut(document: object, resolve: Resolve): Json {
  const recursive = new Map<unknown, string>();
  const whole = inline(document, [document]) as Json;
  const definitions = [...definedBy(recursive)];
  return definitions.length === 0 ? whole : { ...whole, $defs: Object.fromEntries(definitions) };

  /** Goes on while inlining one definition finds another. */
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

  function refer(node: Json, trail: readonly unknown[]): unknown {
    const target = resolve(node);
    if (!trail.includes(target)) return inline(target, [...trail, target]);
    const name = recursive.get(target) ?? `Recursive${recursive.size + 1}`;
    recursive.set(target, name);
    return { $ref: `#/$defs/${name}` };
  }
}
