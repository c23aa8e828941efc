import { isObject } from "../json.ts";
import { listOf, type Resolve, type SchemaNode } from "./nodes.ts";

type Keywords = { readonly [keyword: string]: unknown };

/** The most fields of a value of one kind, according to one schema. */
interface Bound {
  readonly most: number;
  /** Whether the schema does not limit the fields. When all schemas of a value are silent, there is no bound. */
  readonly isSilent: boolean;
}

/** The bounds for objects and for lists. */
type Bounds = readonly [object: Bound, list: Bound];

const SILENT: Bound = { most: 0, isSilent: true };
const of = (most: number): Bound => ({ most, isSilent: false });

/**
 * The most fields, at all depths together, of a value that a schema accepts; unknown fields, which are dropped, are not
 * counted. Infinity when the schema sets no bound, as for "any JSON value". An upper bound, never less.
 */
export const mostFields = (schema: SchemaNode, resolve: Resolve): number =>
  mostOf(schema, { resolve, known: new Map() });

interface Walk {
  readonly resolve: Resolve;
  /** The bounds of the schemas seen so far: none for the enclosing ones, since a schema that contains itself has none. */
  readonly known: Map<unknown, Bounds>;
}

const BOUNDLESS: Bounds = [of(Number.POSITIVE_INFINITY), of(Number.POSITIVE_INFINITY)];

const mostOf = (node: unknown, walk: Walk): number =>
  Math.max(...boundsOf(node, walk).map(({ most, isSilent }) => (isSilent ? Number.POSITIVE_INFINITY : most)));

function boundsOf(node: unknown, walk: Walk): Bounds {
  if (node === false) return [of(0), of(0)];
  if (!isObject(node)) return [SILENT, SILENT];
  const seen = walk.known.get(node);
  if (seen) return seen;
  walk.known.set(node, BOUNDLESS);
  const bounds = readBounds(node, walk);
  walk.known.set(node, bounds);
  return bounds;
}

function readBounds(node: Keywords, walk: Walk): Bounds {
  const inside = (part: unknown): Bounds => boundsOf(part, walk);
  const choices = [node.anyOf, node.oneOf].map(listOf).filter((list) => list.length > 0);
  const all = [
    ownBounds(node, (part) => mostOf(part, walk)),
    ...("$ref" in node ? [inside(walk.resolve(node))] : []),
    ...listOf(node.allOf).map(inside),
    ...choices.map((list) => either(list.map(inside))),
    ...conditional(node).map((part) => either([inside(part), [SILENT, SILENT]])),
  ];
  return [both(all.map(([object]) => object)), both(all.map(([, list]) => list))];
}

/** When several schemas apply together, each may name other fields. */
const both = (bounds: readonly Bound[]): Bound => ({
  most: bounds.reduce((sum, { most }) => sum + most, 0),
  isSilent: bounds.every(({ isSilent }) => isSilent),
});

const either = (all: readonly Bounds[]): Bounds => {
  const widest = (bounds: readonly Bound[]): Bound => ({
    most: Math.max(...bounds.map(({ most }) => most)),
    isSilent: bounds.some(({ isSilent }) => isSilent),
  });
  return [widest(all.map(([object]) => object)), widest(all.map(([, list]) => list))];
};

function ownBounds(node: Keywords, within: (part: unknown) => number): Bounds {
  const values = node.enum ?? ("const" in node ? [node.const] : undefined);
  if (Array.isArray(values) && values.every((value) => typeof value !== "object" || value === null))
    return [of(0), of(0)];
  const takes = (type: string): boolean => node.type === undefined || [node.type].flat().includes(type);
  return [takes("object") ? inObject(node, within) : of(0), takes("array") ? inList(node, within) : of(0)];
}

function inObject({ maxProperties, ...node }: Keywords, within: (part: unknown) => number): Bound {
  const named = Object.values(isObject(node.properties) ? node.properties : {});
  const patterns = Object.values(isObject(node.patternProperties) ? node.patternProperties : {});
  const others = [node.additionalProperties, node.unevaluatedProperties, ...patterns].filter(
    (part) => part !== undefined && part !== false,
  );
  const isClosed = [node.additionalProperties, node.unevaluatedProperties].includes(false);
  if (named.length + others.length === 0) return isClosed ? of(0) : SILENT;
  const ofNamed = named.reduce<number>((sum, part) => sum + 1 + within(part), 0);
  if (others.length === 0) return of(ofNamed);
  return of(ofNamed + times(maxProperties, 1 + Math.max(...others.map(within))));
}

function inList({ items, prefixItems, maxItems }: Keywords, within: (part: unknown) => number): Bound {
  if (items === undefined && prefixItems === undefined) return SILENT;
  const ofFirst = listOf(prefixItems).reduce<number>((sum, part) => sum + within(part), 0);
  return of(ofFirst + times(maxItems, within(items ?? true)));
}

const times = (count: unknown, fields: number): number =>
  fields === 0 ? 0 : (typeof count === "number" ? count : Number.POSITIVE_INFINITY) * fields;

const conditional = (node: Keywords): unknown[] => {
  const { then, else: otherwise, dependentSchemas } = node;
  const dependent = Object.values(isObject(dependentSchemas) ? dependentSchemas : {});
  return [then, otherwise, ...dependent].filter((part) => part !== undefined);
};
