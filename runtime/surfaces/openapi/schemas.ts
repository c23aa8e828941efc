import { mapSubschemas, parseReference, type SchemaObject } from "../../core/schema/subschemas.ts";
import type { Manifest } from "../../core/set/manifest.ts";

/** The files of `schemas/` by name, e.g. `RollRequest`. */
export type NamedSchemas = ReadonlyMap<string, object>;

/** Which of a service's two schemas. */
export type SchemaRole = "input" | "output";

/** The components of a description: the schemas that are referenced directly or indirectly. */
export interface Components {
  /** A reference to a service's schema. */
  refer(manifest: Manifest, part: SchemaRole): object;
  /** The schemas referred to so far, by name, in alphabetical order. */
  list(): Readonly<Record<string, object>>;
}

/**
 * A named schema keeps its name: `RollRequest.json` becomes `#/components/schemas/RollRequest`. A schema written in the
 * manifest itself is named after the service: `TossRequest`, `TossResponse`.
 */
export function createComponents(schemas: NamedSchemas): Components {
  const components = new Map<string, object>();
  const add = (name: string, document: object | undefined): void => {
    if (!document || components.has(name)) return;
    components.set(name, {});
    const seen = (other: string): void => add(other, schemas.get(other));
    components.set(name, rewrite(document as SchemaObject, name, seen));
  };
  return {
    refer(manifest, part) {
      const schema = manifest[part];
      const isTaken = (name: string): boolean => schemas.has(name) || components.has(name);
      const name = typeof schema === "string" ? schema : toFreeName(manifest.id, part, isTaken);
      add(name, typeof schema === "string" ? schemas.get(schema) : schema);
      return { $ref: toPointer(name) };
    },
    list: () => Object.fromEntries([...components].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

const WORDS = { input: "Request", output: "Response" } as const;

function toFreeName(id: string, part: SchemaRole, isTaken: (name: string) => boolean): string {
  const pascal = id.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  let name = pascal + WORDS[part];
  while (isTaken(name)) name += "Body";
  return name;
}

const toPointer = (name: string): string => `#/components/schemas/${name}`;

/** Rewrites references as pointers to components. A local `#/$defs/…` stays in its own component. */
function rewrite(schema: SchemaObject, owner: string, seen: (name: string) => void): SchemaObject {
  const { $schema: _, ...own } = schema;
  const mapped = mapSubschemas(own, (part) => rewrite(part, owner, seen));
  const reference = typeof mapped.$ref === "string" ? parseReference(mapped.$ref) : undefined;
  if (!reference) return mapped;
  const { name = owner, definition } = reference;
  if (name !== owner) seen(name);
  return { ...mapped, $ref: toPointer(name) + (definition === undefined ? "" : `/$defs/${definition}`) };
}
