import { isObject } from "../../../../core/json.ts";

type Converted = Record<string, unknown>;

const CHOICES = ["allOf", "anyOf", "oneOf"];
/** The keywords that hold further schemas of the same value. */
export const BRANCHES = [...CHOICES, "not"];

/**
 * Restricts branches to the types of the surrounding schema, as the strict check requires; other values could never
 * occur. When no branch fits, the types are moved aside, and the schema still accepts nothing.
 */
export function fitBranches(schema: Converted): Converted {
  const types = schema.type === undefined ? undefined : ([schema.type].flat() as string[]);
  if (!types) return schema;
  const fitted = restrict(schema, types, BRANCHES);
  if (fitted) return fitted;
  const apart = Object.fromEntries(BRANCHES.flatMap((key) => (key in schema ? [[key, schema[key]]] : [])));
  const rest = Object.fromEntries(Object.entries(schema).filter(([key]) => !BRANCHES.includes(key)));
  return { allOf: [rest, apart] };
}

/** A schema whose branches are restricted to these types; undefined when none of them fits. */
function restrict(schema: Converted, types: readonly string[], branches: readonly string[]): Converted | undefined {
  const fitted = branches.flatMap((key) => {
    const branch = schema[key];
    if (branch === undefined) return [];
    if (!Array.isArray(branch)) return [[key, narrow(branch, types)]];
    const parts = branch.map((part) => narrow(part, types));
    return [[key, key === "allOf" ? parts : parts.filter((part) => part !== undefined)]];
  });
  const isPossible = fitted.every(([, part]) =>
    Array.isArray(part) ? part.length > 0 && !part.includes(undefined) : part !== undefined,
  );
  return isPossible ? { ...schema, ...Object.fromEntries(fitted) } : undefined;
}

/** A branch restricted to these types; undefined when it has none of them. */
function narrow(part: unknown, types: readonly string[]): unknown {
  if (!isObject(part)) return part;
  if (part.type === undefined) return restrict(part, types, CHOICES);
  const own = [part.type].flat() as string[];
  const common = own.filter((type) => types.includes(type) || (type === "integer" && types.includes("number")));
  if (common.length === own.length) return part;
  const integers = own.includes("number") && types.includes("integer") ? ["integer"] : [];
  const both = [...new Set([...common, ...integers])];
  if (both.length === 0) return undefined;
  return { ...part, type: both.length === 1 ? both[0] : both };
}
