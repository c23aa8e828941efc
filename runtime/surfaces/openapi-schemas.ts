import type { Manifest } from "../core/manifest.ts";
import type { Service } from "../core/service.ts";
import { mapSubschemas, parseReference, type SchemaObject } from "../core/subschemas.ts";

/** The directory's schemas by name, e.g. `RollRequest`. */
export type NamedSchemas = ReadonlyMap<string, object>;

/** The two schemas of a service. */
export type Part = "input" | "output";

/** The schemas of services as components of a description. */
export interface Components {
  /** By name, in alphabetical order, with everything that they refer to. */
  readonly schemas: Readonly<Record<string, object>>;
  /** A reference to the component of one part of a service. */
  refer(manifest: Manifest, part: Part): object;
}

/**
 * A schema that is named keeps its name: `RollRequest.json` becomes `#/components/schemas/RollRequest`. One that is written
 * in its manifest is called after the service: `TossRequest`, `TossResponse`.
 */
export function toComponents(services: readonly Service[], schemas: NamedSchemas): Components {
  const components = new Map<string, object>();
  const written = new Map<object, string>();
  const add = (name: string, document: object | undefined): void => {
    if (!document || components.has(name)) return;
    components.set(name, {});
    components.set(
      name,
      rewrite(document as SchemaObject, name, (other) => add(other, schemas.get(other))),
    );
  };
  for (const { manifest } of services) {
    for (const part of ["input", "output"] as const) {
      const schema = manifest[part];
      if (typeof schema === "string") add(schema, schemas.get(schema));
      else {
        const name = toFreeName(manifest.id, part, (taken) => schemas.has(taken) || components.has(taken));
        written.set(schema, name);
        add(name, schema);
      }
    }
  }
  return {
    schemas: Object.fromEntries([...components].sort(([a], [b]) => (a < b ? -1 : 1))),
    refer(manifest, part) {
      const schema = manifest[part];
      return { $ref: toPointer(typeof schema === "string" ? schema : (written.get(schema) ?? "")) };
    },
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
