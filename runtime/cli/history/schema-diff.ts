import { comparableOf } from "../../core/digest.ts";
import { isObject } from "../../core/json.ts";
import { definitionsOf, parseReference, subschemas } from "../../core/schema/subschemas.ts";

/** How a schema has changed at one place. */
export interface SchemaChange {
  /** `narrower`: fewer values are allowed than before. `wider`: more. `other`: cannot be compared. */
  readonly way: "narrower" | "wider" | "other";
  /** Begins with the place's path. */
  readonly text: string;
}

type Node = Readonly<Record<string, unknown>>;
type Schemas = ReadonlyMap<string, object>;

/** A schema, and the named schemas that it may refer to. */
export interface SchemaSide {
  readonly schema: string | object | undefined;
  readonly schemas: Schemas;
}

/** How deeply recursive schemas are compared. */
const DEEPEST = 12;
/** At how many places a schema that others refer to is compared: with each level of recursion, there may be times as many. */
const MOST_PLACES = 20;
const TEXTS = new Set(["title", "description", "examples", "$schema", "$id", "$comment", "$defs"]);
/** Lists of schemas for the same value. */
const PARTS = new Set(["allOf", "anyOf", "oneOf"]);
/** Bounds that allow fewer values when they grow. */
const LEAST = ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"];
/** Bounds that allow more values when they grow. */
const MOST = ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];

/** The differences between two schemas, except for their texts. */
export function diffSchemas(before: SchemaSide, after: SchemaSide): readonly SchemaChange[] {
  /** By the two references. */
  const places = new Map<string, number>();
  const [first, second] = [createResolver(before), createResolver(after)];
  return compare(first.root, second.root, "", 0);

  function compare(old: Node, now: Node, path: string, depth: number): readonly SchemaChange[] {
    if (depth > DEEPEST || (comparableOf(old) === comparableOf(now) && !mayRefer(old))) return [];
    const names = new Set([...Object.keys(old), ...Object.keys(now)].filter((name) => !TEXTS.has(name)));
    return [...names].flatMap((name) => compareKeyword(name, { old, now, path, depth }));
  }

  function compareKeyword(name: string, place: Place): readonly SchemaChange[] {
    const { old, now, path, depth } = place;
    const [one, two] = [old[name], now[name]];
    if (name === "properties") return compareProperties(place);
    if (name === "required") return compareRequired(place);
    if (name === "items" && isObject(one) && isObject(two)) return inner(one, two, `${path}[]`, depth);
    if (PARTS.has(name) && Array.isArray(one) && Array.isArray(two) && one.length === two.length)
      return toPairs(one, two).flatMap(([part, other]) => inner(toNode(part), toNode(other), path, depth));
    if (comparableOf(one ?? null) === comparableOf(two ?? null)) return [];
    if (name === "enum" || name === "type" || name === "const") return compareValues(name, place);
    if (name === "additionalProperties") return compareAdditional(place);
    const way = wayOf(name, one, two);
    return [{ way, text: `${label(path)}${name} ${show(one)} → ${show(two)}` }];
  }

  function inner(one: Node, two: Node, path: string, depth: number): readonly SchemaChange[] {
    if ("$ref" in one || "$ref" in two) {
      const key = comparableOf([one, two]);
      const count = places.get(key) ?? 0;
      if (count === MOST_PLACES) return [];
      places.set(key, count + 1);
    }
    return compare(first.resolve(one), second.resolve(two), path, depth + 1);
  }

  function compareProperties({ old, now, path, depth }: Place): readonly SchemaChange[] {
    const [one, two] = [toNodes(old.properties), toNodes(now.properties)];
    return [
      ...Object.keys(one)
        .filter((name) => !Object.hasOwn(two, name))
        .map((name) => ({ way: "other" as const, text: `${within(path, name)} is gone` })),
      ...Object.keys(two)
        .filter((name) => !Object.hasOwn(one, name))
        .map((name) => ({ way: "wider" as const, text: `${within(path, name)} is new` })),
      ...Object.entries(one).flatMap(([name, node]) =>
        Object.hasOwn(two, name) ? inner(node, two[name] as Node, within(path, name), depth) : [],
      ),
    ];
  }

  function compareRequired({ old, now, path }: Place): readonly SchemaChange[] {
    const [one, two] = [toNames(old.required), toNames(now.required)];
    return [
      ...two
        .filter((name) => !one.includes(name))
        .map((name) => ({ way: "narrower" as const, text: `${within(path, name)} is required` })),
      ...one
        .filter((name) => !two.includes(name))
        .map((name) => ({ way: "wider" as const, text: `${within(path, name)} is not required any more` })),
    ];
  }
}

/** One place of two schemas. */
interface Place {
  readonly old: Node;
  readonly now: Node;
  /** Dotted; empty for the whole value. */
  readonly path: string;
  readonly depth: number;
}

/** Compares the allowed values or types. */
function compareValues(name: string, { old, now, path }: Place): readonly SchemaChange[] {
  const [one, two] = [toTexts(name, old[name]), toTexts(name, now[name])];
  const text = `${label(path)}${name} ${show(old[name])} → ${show(now[name])}`;
  if (one === undefined) return [{ way: "narrower", text }];
  if (two === undefined) return [{ way: "wider", text }];
  const isLess = two.every((value) => one.includes(value));
  const isMore = one.every((value) => two.includes(value));
  if (isLess && isMore) return []; // In another order.
  return [{ way: isLess ? "narrower" : isMore ? "wider" : "other", text }];
}

function compareAdditional({ old, now, path }: Place): readonly SchemaChange[] {
  const change = (way: SchemaChange["way"], what: string) => [{ way, text: `${label(path)}${what}` }];
  const [one, two] = [old.additionalProperties, now.additionalProperties];
  if (two === false) return change("narrower", "no other fields are allowed");
  if (one === false) return change("wider", "other fields are allowed");
  // Where nothing is said of other fields, they are left out.
  if (one === true && two === undefined) return change("narrower", "other fields are left out");
  if (one === undefined && two === true) return change("wider", "other fields are kept");
  return change("other", "other fields changed");
}

function wayOf(name: string, one: unknown, two: unknown): SchemaChange["way"] {
  if (name === "default") return "other"; // What is left out means something else.
  if (one === undefined) return "narrower";
  if (two === undefined) return "wider";
  if (typeof one !== "number" || typeof two !== "number") return "other";
  if (LEAST.includes(name)) return two > one ? "narrower" : "wider";
  if (MOST.includes(name)) return two < one ? "narrower" : "wider";
  return "other";
}

/** The parts of two lists of one length: equal ones together, wherever they stand, and the others in their order. */
function toPairs(one: readonly unknown[], two: readonly unknown[]): readonly (readonly [unknown, unknown])[] {
  const others = two.map((part) => ({ part, text: comparableOf(part) }));
  const take = (at: number): unknown => others.splice(at, 1)[0]?.part;
  const found = one.map((part) => {
    const text = comparableOf(part);
    const at = others.findIndex((other) => other.text === text);
    return { part, isFound: at >= 0, other: at >= 0 ? take(at) : undefined };
  });
  return found.map(({ part, isFound, other }) => [part, isFound ? other : take(0)] as const);
}

/** A side's schema, and how a schema within it is read: with what its reference leads to. */
function createResolver({ schema, schemas }: SchemaSide): { readonly root: Node; resolve(node: Node): Node } {
  /** The documents of the schemas that were found so far, since a reference may lead within its own one. */
  const owners = new WeakMap<object, Node>();
  const open = (document: Node): Node => {
    if (!owners.has(document)) for (const part of subschemas(document)) owners.set(part.schema, document);
    return document;
  };
  const find = (name: string): Node => open(toNode(schemas.get(name)));
  const resolve = (node: Node, hops = 0): Node => {
    const reference = typeof node.$ref === "string" ? parseReference(node.$ref) : undefined;
    if (!reference || hops > DEEPEST) return node;
    const { name, definition } = reference;
    const document = name === undefined ? owners.get(node) : find(name);
    const target = definition === undefined ? document : definitionsOf(document)[definition];
    const { $ref: _, ...own } = node;
    return { ...resolve(toNode(target), hops + 1), ...own };
  };
  const root = typeof schema === "string" ? find(schema) : open(toNode(schema));
  return { root: resolve(root), resolve };
}

const mayRefer = (node: Node): boolean => JSON.stringify(node).includes('"$ref"');

const toNodes = (value: unknown): Readonly<Record<string, Node>> =>
  Object.fromEntries(Object.entries(isObject(value) ? value : {}).map(([name, schema]) => [name, toNode(schema)]));

/** A schema may be `true`, for any value, or `false`, for none. */
function toNode(schema: unknown): Node {
  if (schema === false) return { not: {} };
  return isObject(schema) ? schema : {};
}

const toNames = (value: unknown): readonly string[] => (Array.isArray(value) ? value : []);

/** The allowed values or types as JSON. An integer is a number, too. */
function toTexts(name: string, value: unknown): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const texts = [value].flat().map((one) => JSON.stringify(one));
  return name === "type" && texts.includes('"number"') ? [...texts, '"integer"'] : texts;
}

const within = (path: string, name: string): string => (path === "" ? name : `${path}.${name}`);

const label = (path: string): string => (path === "" ? "" : `${path}: `);

function show(value: unknown): string {
  if (value === undefined) return "none";
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
