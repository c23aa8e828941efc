type Json = Readonly<Record<string, unknown>>;

/** The directory's schemas by name, e.g. `RollRequest`. */
export type NamedSchemas = ReadonlyMap<string, object>;

/**
 * The components that the named schemas make up, with everything that they refer to. `RollRequest.json` becomes
 * `#/components/schemas/RollRequest`, and a local `#/$defs/…` stays within its own component.
 */
export function toComponents(names: Iterable<string>, schemas: NamedSchemas): Record<string, unknown> {
  const components: Record<string, unknown> = {};
  const add = (name: string): void => {
    const document = schemas.get(name);
    if (!document || name in components) return;
    components[name] = {};
    components[name] = rewrite(document, name, add);
  };
  for (const name of names) add(name);
  return Object.fromEntries(Object.entries(components).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A reference to a named schema, or an inline schema with its references rewritten. */
export function toSchema(schema: string | object, pointer: string): object {
  return typeof schema === "string" ? { $ref: refOf(schema) } : (rewrite(schema, pointer, () => {}) as object);
}

/** The names that a schema refers to directly. */
export function namesIn(schema: string | object): string[] {
  if (typeof schema === "string") return [schema];
  const names: string[] = [];
  rewrite(schema, "", (name) => names.push(name));
  return names;
}

const refOf = (name: string): string => `#/components/schemas/${name}`;

function rewrite(value: unknown, owner: string, seen: (name: string) => void): unknown {
  if (Array.isArray(value)) return value.map((item) => rewrite(item, owner, seen));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value as Json).filter(([key]) => key !== "$schema" && key !== "$id");
  return Object.fromEntries(
    entries.map(([key, child]) => [
      key,
      key === "$ref" && typeof child === "string" ? rewriteRef(child, owner, seen) : rewrite(child, owner, seen),
    ]),
  );
}

function rewriteRef(ref: string, owner: string, seen: (name: string) => void): string {
  if (ref.startsWith("#")) return `${refOf(owner)}${ref.slice(1)}`;
  const [file = "", fragment = ""] = ref.split("#");
  const name = file.replace(/^\.\//, "").replace(/\.json$/, "");
  seen(name);
  return refOf(name) + fragment;
}
