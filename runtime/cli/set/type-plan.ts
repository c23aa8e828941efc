import { definitionsOf, parseReference, type SchemaObject, subschemas } from "../../core/schema/subschemas.ts";
import type { Manifest } from "../../core/set/manifest.ts";
import { hasDefaults, type Side, toTypeSchema } from "./type-schemas.ts";

/** The plan of `schemas/generated/services.ts`. */
export interface TypePlan {
  /** The types to generate: name, and schema in the dialect of json-schema-to-typescript. */
  readonly types: readonly { readonly name: string; readonly schema: SchemaObject }[];
  /** The names of each handler's types, in the manifests' order. */
  readonly handlers: readonly { readonly handler: string; readonly input: string; readonly output: string }[];
}

/** A schema that becomes a type: a document (a file of `schemas/` or a part of a manifest), or one of its `$defs`. */
interface Node {
  readonly name: string;
  readonly schema: SchemaObject;
  /** The key of its document. */
  readonly document: string;
}

/** By key: `Document`, or `Document#definition` for one of its `$defs`. */
type Nodes = Map<string, Node>;

/**
 * Plans one type for each schema, including those that no manifest names. A schema with defaults that is used as input
 * and as output gets a second type, `…Given`, for the input with its defaults filled in.
 */
export function planTypes(manifests: readonly Manifest[], schemas: ReadonlyMap<string, object>): TypePlan {
  const nodes: Nodes = new Map();
  const claim = createClaim(schemas.keys());
  for (const [name, schema] of schemas) addDocument(nodes, name, schema as SchemaObject, claim);
  const toKey = (schema: string | object, name: string): string =>
    typeof schema === "string" ? schema : addDocument(nodes, claim(name), schema as SchemaObject, claim);
  const uses = manifests.map(({ id, handler, input, output }) => ({
    handler,
    input: toKey(input, `${toPascal(id)}Input`),
    output: toKey(output, `${toPascal(id)}Output`),
  }));
  const taken = reach(
    nodes,
    uses.map(({ input }) => input),
  );
  const returned = reach(
    nodes,
    uses.map(({ output }) => output),
  );

  const nameOf = (key: string, side: Side): string => {
    const { name } = nodes.get(key) as Node;
    const isDouble = side === "taken" && returned.has(key);
    return isDouble && [...reach(nodes, [key])].some((inner) => hasDefaults(nodes.get(inner)?.schema))
      ? `${name}Given`
      : name;
  };
  const types = [...nodes].flatMap(([key, { schema, document }]) => {
    const sides: Side[] = taken.has(key) ? ["taken"] : ["returned"];
    if (taken.has(key) && nameOf(key, "taken") !== nameOf(key, "returned")) sides.push("returned");
    return sides.map((side) => {
      const refer = (reference: string): string => nameOf(follow(reference, document), side);
      return { name: nameOf(key, side), schema: toTypeSchema(schema, side, refer) };
    });
  });
  const handlers = uses.flatMap(({ handler, input, output }) =>
    handler === undefined ? [] : [{ handler, input: nameOf(input, "taken"), output: nameOf(output, "returned") }],
  );
  return { types, handlers };
}

/** Adds a schema and its `$defs` under the key, which is the name of its type. Returns the key. */
function addDocument(nodes: Nodes, key: string, schema: SchemaObject, claim: Claim): string {
  const { $defs: _, ...root } = schema;
  nodes.set(key, { name: key, schema: root, document: key });
  for (const [name, definition] of Object.entries(definitionsOf(schema))) {
    const part = definition as SchemaObject;
    nodes.set(`${key}#${name}`, { name: claim(key + toPascal(name)), schema: part, document: key });
  }
  return key;
}

/** Returns the wanted name, with a number when it is taken. */
type Claim = (wanted: string) => string;

function createClaim(names: Iterable<string>): Claim {
  const taken = new Set(names);
  return (wanted) => {
    let name = wanted;
    for (let count = 2; taken.has(name); count++) name = `${wanted}${count}`;
    taken.add(name);
    return name;
  };
}

/** These keys and all keys that they reference directly or indirectly. */
function reach(nodes: Nodes, keys: readonly string[], found = new Set<string>()): ReadonlySet<string> {
  for (const key of keys) {
    const node = nodes.get(key);
    if (!node || found.has(key)) continue;
    found.add(key);
    const references = [...subschemas(node.schema)].flatMap(({ schema: { $ref } }) =>
      typeof $ref === "string" ? [$ref] : [],
    );
    reach(
      nodes,
      references.map((reference) => follow(reference, node.document)),
      found,
    );
  }
  return found;
}

function follow(reference: string, document: string): string {
  const { name = document, definition } = parseReference(reference) ?? {};
  return definition === undefined ? name : `${name}#${definition}`;
}

/** `attest_verify` becomes `AttestVerify`. */
const toPascal = (text: string): string =>
  text.replaceAll(/(?:^|[_.-]+)([A-Za-z0-9])/g, (_match, letter: string) => letter.toUpperCase()).replace(/^\d/, "N$&");
