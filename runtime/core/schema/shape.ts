import { isObject } from "../json.ts";
import { once } from "../once.ts";
import { listOf, type Resolve, type SchemaNode } from "./nodes.ts";

/** How one level of a value is copied. */
export interface Shape {
  readonly fields: readonly FieldShape[];
  readonly names: ReadonlySet<string>;
  /** How unnamed fields are copied; undefined when they are dropped. */
  readonly rest: () => Shape | undefined;
  readonly itemAt: (index: number) => Shape;
  /** Whether the schema can accept a list or an object; otherwise such a value is refused without being copied. */
  readonly takesList: boolean;
  readonly takesObject: boolean;
  /** Whether the value is copied unchanged, whatever it is. */
  readonly isFree: boolean;
}

/** How one named field is copied. */
export interface FieldShape {
  readonly name: string;
  /** Whether `null` means absent. */
  readonly optional: boolean;
  /** Whether the schema itself allows `null`. */
  readonly nullable: boolean;
  /** The default for an absent value. */
  readonly default?: unknown;
  readonly shape: () => Shape;
}

/** The schemas of one field, or of the items of a list: those that always apply, and those of branches. */
interface Property {
  readonly certain: SchemaNode[];
  readonly possible: SchemaNode[];
}

/** The combined information of all schemas that apply to one value. */
interface Survey {
  readonly properties: Map<string, Property>;
  /** Names of fields whose `null` is a value, and does not mean absent. */
  readonly required: Set<string>;
  /** Schemas of the fields, also of named ones, that match a pattern. */
  readonly patterns: { readonly pattern: RegExp; readonly part: SchemaNode; readonly isCertain: boolean }[];
  /** Schemas of the unnamed fields. */
  readonly others: SchemaNode[];
  readonly items: Property;
  readonly prefix: SchemaNode[][];
}

/** Copies everything unchanged. */
const FREE: Shape = {
  fields: [],
  names: new Set(),
  rest: () => FREE,
  itemAt: () => FREE,
  takesList: true,
  takesObject: true,
  isFree: true,
};

/**
 * The shape of a schema. An object is reduced to the fields that its schema names, unless the schema names none or has
 * a rule for additional fields. The outermost object is reduced even when the schema forbids additional fields.
 */
export const toShape = (schema: SchemaNode, resolve: Resolve): Shape => shapeOf([schema], resolve, true);

function shapeOf(schemas: readonly SchemaNode[], resolve: Resolve, outermost = false): Shape {
  const { properties, required, others, prefix, ...survey } = surveyOf(schemas, resolve);
  const items = alternatives(survey.items, resolve);
  const takesList = schemas.length === 0 || schemas.some((node) => takes(node, "array"));
  const takesObject = schemas.length === 0 || schemas.some((node) => takes(node, "object"));
  if (properties.size + others.length + items.length + prefix.length === 0) return { ...FREE, takesList, takesObject };
  // Schemas can contain themselves, so the next level is read only when a value reaches it.
  const later = (nodes: readonly SchemaNode[]) => once(() => shapeOf(nodes, resolve));
  const rest = others.includes(true) ? () => FREE : later(others);
  const keepsRest = others.some((node) => node !== false || !outermost) || properties.size + others.length === 0;
  const [anyItem, firstItems] = [later(items), prefix.map(later)];
  return {
    fields: [...properties].map(([name, property]) => ({
      name,
      optional: !required.has(name),
      ...describe(property, resolve),
      shape: later(alternatives(property, resolve)),
    })),
    names: new Set(properties.keys()),
    rest: () => (keepsRest ? rest() : undefined),
    itemAt: (index) => (firstItems[index] ?? anyItem)(),
    takesList,
    takesObject,
    isFree: false,
  };
}

/** All schemas of a value. When all are branches, and one of them accepts any fields or items, they stay branches. */
function alternatives({ certain, possible }: Property, resolve: Resolve): readonly SchemaNode[] {
  const isOpen = possible.some((node) => TYPES.some((type) => takesAny(node, type, resolve)));
  return certain.length === 0 && isOpen ? [{ anyOf: possible }] : [...certain, ...possible];
}

/** The schemas of branches count only when no schema always applies. */
function describe({ certain, possible }: Property, resolve: Resolve): Pick<FieldShape, "nullable" | "default"> {
  const allows = (node: SchemaNode): boolean => allowsNull(node, resolve);
  const nullable = certain.length > 0 ? certain.every(allows) : possible.some(allows);
  const described = certain.find((node) => isObject(node) && "default" in node) as { default: unknown } | undefined;
  return described ? { nullable, default: described.default } : { nullable };
}

function surveyOf(schemas: readonly SchemaNode[], resolve: Resolve): Survey {
  const items: Property = { certain: [], possible: [] };
  const survey: Survey = { properties: new Map(), required: new Set(), patterns: [], others: [], items, prefix: [] };
  const visit = (node: unknown, isCertain: boolean, trail: readonly unknown[]): void => {
    if (!isObject(node) || trail.includes(node)) return;
    const within = [...trail, node];
    noteFields(node, isCertain, survey, resolve);
    noteItems(node, isCertain, survey);
    if ("$ref" in node) visit(resolve(node), isCertain, within);
    for (const part of listOf(node.allOf)) visit(part, isCertain, within);
    for (const branches of [node.anyOf, node.oneOf].map(listOf)) {
      const kinds = branches.filter((branch) => !isNull(branch));
      if (kinds.some((branch) => takesAny(branch, "object", resolve))) survey.others.push(true);
      if (kinds.some((branch) => takesAny(branch, "array", resolve))) items.possible.push(true);
      // "A schema or null": for an object, that schema always applies.
      for (const branch of kinds) visit(branch, isCertain && kinds.length === 1, within);
    }
    const { then, else: otherwise, dependentSchemas } = node;
    for (const branch of [then, otherwise, ...Object.values(dependentSchemas ?? {})]) visit(branch, false, within);
  };
  for (const schema of schemas) visit(schema, true, []);
  for (const { pattern, part, isCertain } of survey.patterns)
    for (const [name, known] of survey.properties)
      if (pattern.test(name)) known[isCertain ? "certain" : "possible"].push(part);
  return survey;
}

type Keywords = { readonly [keyword: string]: unknown };

function noteFields(node: Keywords, isCertain: boolean, survey: Survey, resolve: Resolve): void {
  const named = (node.properties ?? {}) as Readonly<Record<string, SchemaNode>>;
  for (const [name, property] of Object.entries(named)) {
    const known = survey.properties.get(name) ?? { certain: [], possible: [] };
    known[isCertain ? "certain" : "possible"].push(property);
    survey.properties.set(name, known);
  }
  for (const name of (node.required ?? []) as string[]) {
    const own = Object.hasOwn(named, name) ? named[name] : false;
    if (isCertain || allowsNull(own ?? false, resolve)) survey.required.add(name);
  }
  for (const [source, part] of Object.entries((node.patternProperties ?? {}) as Readonly<Record<string, SchemaNode>>))
    survey.patterns.push({ pattern: new RegExp(source, "u"), part, isCertain });
  survey.others.push(...othersOf(node));
}

function noteItems(node: Keywords, isCertain: boolean, { items, prefix }: Survey): void {
  if (node.items !== undefined) items[isCertain ? "certain" : "possible"].push(node.items as SchemaNode);
  for (const [index, item] of listOf(node.prefixItems).entries()) {
    prefix[index] ??= [];
    prefix[index].push(item);
  }
}

/** The schemas of unnamed fields. Those that match a pattern are copied unchanged. */
function othersOf(node: Keywords): SchemaNode[] {
  const said = [node.additionalProperties, node.unevaluatedProperties].filter((part) => part !== undefined);
  return (node.patternProperties === undefined ? said : [...said, true]) as SchemaNode[];
}

const isNull = (node: SchemaNode): boolean => isObject(node) && node.type === "null";

/** Keywords that say nothing of the parts of a value. */
const PARTLESS = new Set([
  ...["type", "title", "description", "default", "examples", "deprecated", "$schema", "$id", "$comment", "x-message"],
  ...["minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "minLength", "maxLength", "format"],
]);

const TYPES = ["array", "object"] as const;
const MOST_STEPS = 32;

/** Whether a schema takes objects, or lists, of any parts. */
function takesAny(node: SchemaNode, type: "array" | "object", resolve: Resolve, steps = 0): boolean {
  if (!isObject(node)) return node === true;
  const { $ref, ...own } = node as Keywords;
  if (!takes(node, type) || !Object.keys(own).every((key) => PARTLESS.has(key))) return false;
  return $ref === undefined || (steps < MOST_STEPS && takesAny(resolve(node), type, resolve, steps + 1));
}

const hasType = ({ type }: Keywords, name: string): boolean => [type].flat().includes(name);

const takes = (node: SchemaNode, type: "array" | "object"): boolean =>
  !isObject(node) || node.type === undefined || hasType(node, type);

/** Whether the schema accepts `null`, judging by its keywords. */
export function allowsNull(node: SchemaNode, resolve: Resolve, depth = 0): boolean {
  if (!isObject(node) || depth > 32) return node !== false;
  const allows = (part: SchemaNode): boolean => allowsNull(part, resolve, depth + 1);
  if (node.type !== undefined && !hasType(node, "null")) return false;
  if (Array.isArray(node.enum) && !node.enum.includes(null)) return false;
  if ("const" in node && node.const !== null) return false;
  if ([node.anyOf, node.oneOf].some((branches) => Array.isArray(branches) && !branches.some(allows))) return false;
  return listOf(node.allOf).every(allows) && (!("$ref" in node) || allows(resolve(node)));
}
