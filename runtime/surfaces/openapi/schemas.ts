import { isObject } from "../../core/json.ts";
import { definitionsOf, mapSubschemas, parseReference, type SchemaObject } from "../../core/schema/subschemas.ts";
import type { Manifest } from "../../core/set/manifest.ts";
import { OWN_SCHEMAS } from "./responses.ts";

/** The files of `schemas/` by name, e.g. `RollRequest`. */
export type NamedSchemas = ReadonlyMap<string, object>;

/** Which of a service's two schemas. */
export type SchemaRole = "input" | "output";

/** The components of a description: the schemas that are referenced directly or indirectly. */
export interface Components {
  /** A reference to a service's schema. */
  refer(manifest: Manifest, part: SchemaRole): object;
  /** A service's self-contained input, of which parts can be shown alone: its `$defs` become components. */
  open(manifest: Manifest, input: SchemaObject): SchemaObject;
  /** The schemas referred to so far, by name, in alphabetical order. */
  list(): Readonly<Record<string, object>>;
}

/**
 * A named schema keeps its name: `RollRequest.json` becomes `#/components/schemas/RollRequest`, unless payphone's own
 * has it: `HealthBody`. A schema written in the manifest itself is named after the service: `TossRequest`,
 * `TossResponse`. Each of their `$defs` that is referred to is a component, too (`TossRequestSide`): generators of
 * clients do not follow pointers into components.
 */
export function createComponents(schemas: NamedSchemas): Components {
  const documents = new Map(schemas);
  const components = new Map<string, object>();
  /** The components of `$defs`, by owner and name. */
  const parts = new Map<string, string>();
  /** The owners of the `$defs` of self-contained inputs. */
  const opened = new Map<object, string>();
  /** The components of schemas whose names payphone's own have. */
  const renamed = new Map<string, string>();
  const isTaken = (name: string): boolean => documents.has(name) || components.has(name) || isOwn(name);

  /** Adds a schema, and returns the reference to it. */
  const add = (name: string): string => {
    const component = renamed.get(name) ?? (isOwn(name) ? toFreeName(name, isTaken) : name);
    const document = documents.get(name) as SchemaObject | undefined;
    if (document && !components.has(component)) {
      if (component !== name) renamed.set(name, component);
      components.set(component, {});
      const { $schema: _, $defs: __, ...own } = document;
      components.set(component, rewrite(own, name));
    }
    return toPointer(component);
  };
  const addPart = (owner: string, definition: string): string => {
    const key = `${owner} ${definition}`;
    const known = parts.get(key);
    if (known) return known;
    const name = toFreeName(owner + toPascal(definition), isTaken);
    parts.set(key, name);
    components.set(name, {});
    const part = definitionsOf(documents.get(owner))[definition];
    components.set(name, isObject(part) ? rewrite(part, owner) : part === false ? { not: {} } : {});
    return name;
  };
  /** Rewrites references as pointers to components. */
  const rewrite = (schema: SchemaObject, owner: string): SchemaObject => {
    const mapped = mapSubschemas(withoutMisread(schema), (part) => rewrite(part, owner));
    const reference = typeof mapped.$ref === "string" ? parseReference(mapped.$ref) : undefined;
    if (!reference) return mapped;
    const { name = owner, definition } = reference;
    if (definition !== undefined) return { ...mapped, $ref: toPointer(addPart(name, definition)) };
    return { ...mapped, $ref: add(name) };
  };

  return {
    refer(manifest, part) {
      const schema = manifest[part];
      const name = typeof schema === "string" ? schema : toFreeName(toPascal(manifest.id) + WORDS[part], isTaken);
      if (typeof schema !== "string" && schema) documents.set(name, schema);
      return { $ref: add(name) };
    },
    open(manifest, input) {
      const { $defs, ...own } = input;
      if ($defs === undefined) return rewrite(input, "");
      const name = opened.get(input) ?? toFreeName(`${toPascal(manifest.id)}Input`, isTaken);
      opened.set(input, name);
      documents.set(name, input);
      return rewrite(own, name);
    },
    list: () => Object.fromEntries([...components].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** Whether data has a field `$ref`, which readers of a description take for a reference wherever it stands. */
export const seemsToRefer = (data: unknown): boolean => JSON.stringify(data).includes('"$ref":"');

/** A schema without those of its annotations. */
const withoutMisread = (schema: SchemaObject): SchemaObject =>
  Object.fromEntries(Object.entries(schema).filter(([key, data]) => !ANNOTATIONS.includes(key) || !seemsToRefer(data)));

const ANNOTATIONS = ["default", "examples"];

const WORDS = { input: "Request", output: "Response" } as const;

const toPascal = (text: string): string =>
  text.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase());

function toFreeName(wanted: string, isTaken: (name: string) => boolean): string {
  let name = wanted;
  while (isTaken(name)) name += "Body";
  return name;
}

const isOwn = (name: string): boolean => Object.hasOwn(OWN_SCHEMAS, name);

const toPointer = (name: string): string => `#/components/schemas/${name}`;
