import { isObject, type JsonObject } from "../../../core/json.ts";
import { toServiceId } from "../names.ts";
import type { Pointers } from "./pointers.ts";

/** One operation, as the document describes it. */
export interface Operation {
  /** Its name in the document: the `operationId`, or method and path. */
  readonly name: string;
  readonly method: string;
  /** The path with its placeholders, e.g. `/pets/{id}`. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  /** Including those of the path, unless the operation replaces them. */
  readonly parameters: readonly JsonObject[];
  readonly requestBody: unknown;
  readonly responses: JsonObject;
  /** The operation's own servers, when they differ from the document's. */
  readonly servers: unknown;
  readonly security: unknown;
}

/** The keys of a path that are operations. */
export const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

/** Every operation of a document, in its order (OpenAPI 3.2, section 4.9). */
export function listOperations(document: JsonObject, pointers: Pointers): readonly Operation[] {
  const paths = isObject(document.paths) ? document.paths : {};
  return Object.entries(paths).flatMap(([path, value]) => {
    const item = pointers.tryObject(value);
    const others = isObject(item.additionalOperations) ? Object.entries(item.additionalOperations) : [];
    return [...METHODS.map((method) => [method, item[method]] as const), ...others].flatMap(([method, own]) =>
      isObject(own) ? [toOperation(method.toUpperCase(), path, own, { item, pointers })] : [],
    );
  });
}

function toOperation(
  method: string,
  path: string,
  own: JsonObject,
  { item, pointers }: { readonly item: JsonObject; readonly pointers: Pointers },
): Operation {
  const { operationId, summary, description, tags, requestBody, responses, security } = own;
  const texts = (value: unknown): string => (typeof value === "string" ? value.trim() : "");
  return {
    name: texts(operationId) || `${method} ${path}`,
    method,
    path,
    summary: texts(summary) || texts(item.summary),
    description: texts(description) || texts(item.description),
    tags: Array.isArray(tags) ? tags.filter((tag) => typeof tag === "string") : [],
    parameters: mergeParameters(item.parameters, own.parameters, pointers),
    requestBody,
    responses: isObject(responses) ? responses : {},
    servers: own.servers ?? item.servers,
    security,
  };
}

/**
 * Merges parameters; of two with the same place and name, the last one counts. An unreadable one stays a reference, and
 * is refused later.
 */
export function mergeParameters(shared: unknown, own: unknown, pointers: Pointers): readonly JsonObject[] {
  const all = [shared, own].flatMap((list) => (Array.isArray(list) ? list : []));
  const read = all.map((parameter): JsonObject => {
    const found = pointers.tryObject(parameter);
    return found.in === undefined && isObject(parameter) ? parameter : found;
  });
  return [...new Map(read.map((parameter) => [`${parameter.in} ${parameter.name}`, parameter])).values()];
}

/** The selected operations. An empty selection selects nothing. */
export interface Selection {
  /** Names, `METHOD /path`, or ids of services. */
  readonly names: readonly string[];
  readonly tags: readonly string[];
  readonly all: boolean;
}

export const isEmpty = ({ names, tags, all }: Selection): boolean => !all && names.length + tags.length === 0;

/** The selected operations, and the words of the selection that match nothing. */
export function select(
  operations: readonly Operation[],
  { names, tags, all }: Selection,
  upstream: string,
): { readonly chosen: readonly Operation[]; readonly unknown: readonly string[] } {
  const callsOf = ({ name, method, path }: Operation): string[] => [
    name,
    `${method} ${path}`,
    toServiceId(upstream, name),
  ];
  const chosen = operations.filter(
    (operation) =>
      all ||
      callsOf(operation).some((call) => names.includes(call)) ||
      operation.tags.some((tag) => tags.includes(tag)),
  );
  const unknown = [
    ...names.filter((name) => !operations.some((operation) => callsOf(operation).includes(name))),
    ...tags.filter((tag) => !operations.some((operation) => operation.tags.includes(tag))),
  ];
  return { chosen, unknown };
}
