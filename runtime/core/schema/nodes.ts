import { isCollection, isObject, type JsonObject, unescapeStep } from "../json.ts";

/** The keys and indexes that lead to a value, from the root of its document. */
export type Path = readonly (string | number)[];

/** A path as text, like `rails[1].network`; empty for the root. */
export const toPathText = (path: Path): string =>
  path.map((step, at) => (typeof step === "number" ? `[${step}]` : at === 0 ? step : `.${step}`)).join("");

/** A schema, or a schema inside one. */
export type SchemaNode = boolean | JsonObject;

/** The target of a node's `$ref`; `true` (any value is valid) when the target does not exist. */
export type Resolve = (node: SchemaNode) => SchemaNode;

/** The nodes of named documents, which refer to each other as `Name.json` and to their own parts as `#/$defs/…`. */
export interface SchemaNodes {
  readonly resolve: Resolve;
  /** Adds a document that has no name. */
  add(document: object): void;
  /** The node (or list of nodes) and all nodes inside it, through `$ref`s too. */
  reach(node: unknown): ReadonlySet<unknown>;
}

/** The schemas of a keyword that has a list of them; none where it is missing. */
export const listOf = (nodes: unknown): readonly SchemaNode[] => (Array.isArray(nodes) ? nodes : []);

/** Indexes documents. @param documents by name, without `.json`. */
export function createSchemaNodes(documents: ReadonlyMap<string, object>): SchemaNodes {
  const roots = new WeakMap<object, object>();
  const reached = new WeakMap<object, Set<unknown>>();
  const own = (node: unknown, root: object): void => {
    if (!isCollection(node) || roots.has(node)) return;
    roots.set(node, root);
    for (const part of Object.values(node)) own(part, root);
  };
  for (const document of documents.values()) own(document, document);

  const resolve: Resolve = (node) => {
    if (!isObject(node) || typeof node.$ref !== "string") return true;
    const [file = "", pointer = ""] = node.$ref.split("#");
    const name = file.slice(file.lastIndexOf("/") + 1).replace(/\.json$/, "");
    return follow(pointer, file === "" ? roots.get(node) : documents.get(name));
  };

  const collect = (node: unknown, into: Set<unknown>): void => {
    if (node === false) into.add(node);
    if (!isCollection(node) || into.has(node)) return;
    into.add(node);
    for (const part of Object.values(node)) collect(part, into);
    if (isObject(node) && "$ref" in node) collect(resolve(node), into);
  };

  return {
    resolve,
    add: (document) => own(document, document),
    reach(node) {
      const known = reached.get(node as object);
      if (known) return known;
      const found = new Set<unknown>();
      collect(node, found);
      if (isCollection(node)) reached.set(node, found);
      return found;
    },
  };
}

/** The node at a JSON pointer in a URI fragment (RFC 6901, section 6). */
function follow(pointer: string, root: unknown): SchemaNode {
  let node = root;
  for (const step of pointer.split("/").slice(1)) {
    const key = unescapeStep(decodeURIComponent(step));
    node = isCollection(node) ? (node as Record<string, unknown>)[key] : undefined;
  }
  return isObject(node) || node === false ? node : true;
}
