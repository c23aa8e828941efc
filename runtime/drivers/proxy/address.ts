import { isIP } from "node:net";
import { Problem, toValueError, type ValidationIssue } from "../../api/problem.ts";
import { isObject, type JsonObject } from "../../core/json.ts";
import { type Placeholder, readPlace } from "../../core/proxy/template.ts";
import { listOf, type Path, type SchemaNodes } from "../../core/schema/nodes.ts";
import type { Schema } from "../../core/schema/validator.ts";
import { isPublicAddress } from "../http/public-address.ts";

/** Host names of internal networks (RFC 6761, RFC 6762, RFC 9476, and names that clouds, clusters and systems use). */
const INSIDE = /^[^.]+$|\.(?:localhost|localdomain|local|internal|intranet|lan|home|corp|home\.arpa|svc|test|invalid)$/;

/** What is wrong with a URL that a caller names, judging by the URL alone; or nothing. */
export function explainAddress(text: string): string | undefined {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) return "this must be a whole http or https URL";
  if (url.username !== "" || url.password !== "") return "this URL must have no user name and no password";
  const host = url.hostname.replace(/^\[|\]$|\.+$/g, ""); // A dot at the end names the same host.
  const isPrivate = isIP(host) === 0 ? INSIDE.test(host) : !isPublicAddress(host);
  return isPrivate ? "this must be a public address" : undefined;
}

/** A URL in an input. */
export interface NamedAddress {
  readonly path: Path;
  readonly text: string;
}

/** Finds the URLs of an input, at any depth: those that its schema declares, and the request's target. */
export type FindAddresses = (input: JsonObject) => readonly NamedAddress[];

/** @param asked the field that is the request's target, if one is. */
export function createAddressFinder(
  { document, nodes }: Pick<Schema, "document" | "nodes">,
  asked?: Placeholder,
): FindAddresses {
  const isSaid = [...nodes.reach(document)].some((node) => isObject(node) && isAddress(node));
  return (input) => {
    const found = new Map<string, NamedAddress>();
    const add = (path: Path, text: string): void => void found.set(JSON.stringify(path), { path, text });
    const text = asked && readPlace(asked, { input });
    if (typeof text === "string") add(asked?.name.split(".") ?? [], text);
    if (isSaid) collect(document, { value: input, path: [] }, { add, nodes, seen: new Map() });
    return [...found.values()];
  };
}

/** @throws Problem `invalid-input` when one of these URLs is not public. */
export function refusePrivate(addresses: readonly NamedAddress[]): void {
  const issues = addresses.flatMap(toAddressIssue);
  if (issues.length > 0) throw new Problem("invalid-input", undefined, { issues });
}

function toAddressIssue({ path, text }: NamedAddress): ValidationIssue[] {
  const fault = explainAddress(text);
  if (fault === undefined) return [];
  const [field = "", ...rest] = path;
  const issue = toValueError(fault, text, String(field));
  return [{ ...issue, loc: [...issue.loc, ...rest] }];
}

interface Place {
  readonly value: unknown;
  readonly path: Path;
}

interface Collecting {
  readonly add: (path: Path, text: string) => void;
  readonly nodes: Pick<SchemaNodes, "resolve">;
  /** The schemas that were applied to each value, since a schema may refer to itself. */
  readonly seen: Map<unknown, Set<unknown>>;
}

function collect(schema: unknown, { value, path }: Place, terms: Collecting): void {
  const { add, seen } = terms;
  if (!isObject(schema) || seen.get(value)?.has(schema)) return;
  if (typeof value === "object") seen.set(value, (seen.get(value) ?? new Set()).add(schema));
  if (isAddress(schema) && typeof value === "string" && leads(value)) add(path, value);
  for (const part of besides(schema, value, terms)) collect(part, { value, path }, terms);
  if (Array.isArray(value))
    for (const [at, item] of value.entries())
      for (const part of ofItem(schema, at)) collect(part, { value: item, path: [...path, at] }, terms);
  if (!isObject(value)) return;
  for (const [name, item] of Object.entries(value)) {
    collect(schema.propertyNames, { value: name, path: [...path, name] }, terms);
    for (const part of ofField(schema, name)) collect(part, { value: item, path: [...path, name] }, terms);
  }
}

/** The formats of URLs in schemas. Even `url`, which excludes private IP addresses, allows the names of internal hosts. */
const isAddress = ({ format }: JsonObject): boolean => format === "uri" || format === "url";

/**
 * Matches what may lead to a host: a scheme, or a host without one (RFC 3986, section 4.2), since another branch of the
 * schema may allow plain words. A `urn:` leads nowhere (RFC 8141, section 1.2), unless it has an @, before which a source
 * may read a user.
 */
const LEADS = /^(?!urn:[a-z\d][^@]*$)(?:[a-z][a-z0-9+.-]*:|\/\/|[^/\s]*\.[^/\s])/i;

/** A URL once tabs and line breaks are taken out, as many readers do (URL Standard, "basic URL parser"). */
const BROKEN = /^(?:https?:|(?:[a-z][a-z0-9+.-]*:)?\/\/)/i;

/** Whether a text may lead to a host, also behind white space and control characters, which readers leave out. */
function leads(text: string): boolean {
  const bare = text.replace(/^[\s\p{Cc}]+/u, "");
  return LEADS.test(bare) || BROKEN.test(bare.replaceAll(/[\t\n\r]/g, ""));
}

/** The further schemas of the value itself. What `if` and `not` say of it need not hold. */
function besides(schema: JsonObject, value: unknown, { nodes }: Collecting): readonly unknown[] {
  const { allOf, anyOf, oneOf, dependentSchemas } = schema;
  const asked = isObject(value) && isObject(dependentSchemas) ? Object.entries(dependentSchemas) : [];
  return [
    "$ref" in schema ? nodes.resolve(schema) : undefined,
    ...[allOf, anyOf, oneOf].flatMap(listOf),
    schema.then,
    schema.else,
    ...asked.flatMap(([name, part]) => (Object.hasOwn(value as object, name) ? [part] : [])),
  ];
}

function ofItem({ prefixItems, items, contains, unevaluatedItems }: JsonObject, at: number): readonly unknown[] {
  return [listOf(prefixItems)[at] ?? items, contains, unevaluatedItems];
}

function ofField(schema: JsonObject, name: string): readonly unknown[] {
  const { properties, patternProperties, additionalProperties, unevaluatedProperties } = schema;
  const patterns = Object.entries(isObject(patternProperties) ? patternProperties : {});
  if (isObject(properties) && Object.hasOwn(properties, name)) {
    const fitting = patterns.filter(([pattern]) => new RegExp(pattern, "u").test(name));
    return [properties[name], ...fitting.map(([, part]) => part)];
  }
  return [...patterns.map(([, part]) => part), additionalProperties, unevaluatedProperties];
}
