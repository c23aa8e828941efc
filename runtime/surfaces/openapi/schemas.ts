import { mapSubschemas, parseReference, type SchemaObject } from "../../core/schema/subschemas.ts";
import type { Manifest } from "../../core/set/manifest.ts";

/** The directory's schemas by name, e.g. `RollRequest`. */
export type NamedSchemas = ReadonlyMap<string, object>;

/** The two schemas of a service. */
export type Part = "input" | "output";

/** The schemas of services as components of a description: those that something refers to, and what these refer to. */
export interface Components {
  /** A reference to one part of a service. */
  refer(manifest: Manifest, part: Part): object;
  /** What has been referred to until now, by name, in alphabetical order. */
  list(): Readonly<Record<string, object>>;
}

/**
 * A schema that is named keeps its name: `RollRequest.json` becomes `#/components/schemas/RollRequest`. One that is written
 * in its manifest is called after the service: `TossRequest`, `TossResponse`.
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

function toFreeName(id: string, part: Part, isTaken: (name: string) => boolean): string {
  const pascal = id.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  let name = pascal + WORDS[part];
  while (isTaken(name)) name += "Body";
  return name;
}

const toPointer = (name: string): string => `#/components/schemas/${name}`;

/** A local `#/$defs/…` stays within its own component. */
function rewrite(schema: SchemaObject, owner: string, seen: (name: string) => void): SchemaObject {
  const { $schema: _, ...own } = schema;
  const mapped = mapSubschemas(own, (part) => rewrite(part, owner, seen));
  const reference = typeof mapped.$ref === "string" ? parseReference(mapped.$ref) : undefined;
  if (!reference) return mapped;
  const { name = owner, definition } = reference;
  if (name !== owner) seen(name);
  return { ...mapped, $ref: toPointer(name) + (definition === undefined ? "" : `/$defs/${definition}`) };
}
