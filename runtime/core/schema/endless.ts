import { isObject } from "../json.ts";
import { listOf, type SchemaNode, type SchemaNodes } from "./nodes.ts";

/** Finds out whether a schema, or one inside it, applies itself to the same value again: its check would never end. */
export function createEndlessCheck({
  reach,
  resolve,
}: Pick<SchemaNodes, "reach" | "resolve">): (schema: SchemaNode) => boolean {
  /** Schemas whose checks end, and the checks of all their parts. */
  const sound = new Set<unknown>();
  return (schema) => {
    if (sound.has(schema)) return false;
    const isOpen = new Map<SchemaNode, boolean>();
    const visit = (node: SchemaNode): boolean => {
      const known = isOpen.get(node);
      if (known !== undefined) return known;
      isOpen.set(node, true);
      const found = stepsOf(node, resolve).some(visit);
      isOpen.set(node, false);
      return found;
    };
    const parts = [...reach(schema)];
    if (parts.some((node) => visit(node as SchemaNode))) return true;
    for (const part of parts) sound.add(part);
    return false;
  };
}

/** The schemas that a schema applies to the same value. */
function stepsOf(node: SchemaNode, resolve: SchemaNodes["resolve"]): readonly SchemaNode[] {
  if (!isObject(node)) return [];
  const { allOf, anyOf, oneOf, dependentSchemas } = node;
  const single = [node.not, node.if, node.then, node.else] as SchemaNode[];
  const dependent = isObject(dependentSchemas) ? (Object.values(dependentSchemas) as SchemaNode[]) : [];
  return [resolve(node), ...single, ...[allOf, anyOf, oneOf].flatMap(listOf), ...dependent];
}
