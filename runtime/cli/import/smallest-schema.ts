import { isObject, type JsonObject } from "../../core/json.ts";

const DEEPEST = 12;
const LISTS = ["anyOf", "oneOf"] as const;
const ANNOTATIONS = ["title", "description", "deprecated", "readOnly", "writeOnly"];

/**
 * A schema, without references and branches, of the smallest values that fit: the required fields only, and one branch
 * of each choice.
 * @param documents by name. @param choice the index of the branch.
 */
export function toSmallest(
  schema: unknown,
  documents: ReadonlyMap<string, object>,
  choice: number,
  depth = 0,
): JsonObject {
  const whole = merge(schema, documents, choice, depth);
  const { properties, required, items, minProperties = 0, minItems = 0, ...rest } = whole;
  const kept = Object.fromEntries(Object.entries(rest).filter(([key]) => !ANNOTATIONS.includes(key)));
  if (depth > DEEPEST) return {};
  const next = (part: unknown): JsonObject => toSmallest(part, documents, choice, depth + 1);
  const fields = isObject(properties) ? properties : {};
  const needed = Array.isArray(required) ? required.map(String) : [];
  const further = Object.keys(fields).filter((name) => !needed.includes(name));
  const taken = [...needed, ...further.slice(0, Math.max(0, Number(minProperties) - needed.length))];
  const isList = [kept.type].flat().includes("array");
  return {
    ...kept,
    ...toText(kept, choice),
    ...(Number(kept.maximum) > Number.MAX_SAFE_INTEGER && { maximum: Number.MAX_SAFE_INTEGER }),
    ...(taken.length > 0 && {
      properties: Object.fromEntries(taken.map((name) => [name, next(fields[name])])),
      required: taken,
    }),
    ...(isList && { items: next(items), minItems, maxItems: minItems }),
  };
}

const SHORT = 16;
const FORMS = new Set(["date-time", "email", "hostname", "ipv6", "uri", "uri-reference", "url", "uuid"]);
/** Texts as people write them; the first that fits is taken. */
const TEXTS = [
  ...["example", "EXAMPLE", "text", "USD", "US", "en", "10.00", "10", "1"],
  ...[
    "2026-01-31T12:00:00Z",
    "2026-01-31",
    "2026-01",
    "12:00",
    "name@example.com",
    "https://example.com",
    "+12025550100",
  ],
];

/** The choices in which texts are as people write them: in the others, they may fit rules that these do not. */
const USUAL = 4;
/** What says more of a text than its form. */
const TOLD = ["const", "enum", "examples", "default", "format"];

/** Texts of any length up to the longest would be made otherwise, but for those that have a form of their own. */
function toText(schema: JsonObject, choice: number): JsonObject {
  const { type, maxLength, minLength = 0, pattern, format } = schema;
  if (FORMS.has(String(format))) return {};
  const rule = new RegExp(String(pattern ?? ""), "u");
  const isFit = (text: string): boolean =>
    text.length >= Number(minLength) && !(text.length > Number(maxLength)) && rule.test(text);
  const isOpen = [type].flat().includes("string") && !TOLD.some((key) => key in schema);
  const usual = isOpen && choice < USUAL ? TEXTS.find(isFit) : undefined;
  if (usual !== undefined) return { const: usual };
  return Number(maxLength) > SHORT && pattern === undefined ? { maxLength: Math.max(SHORT, Number(minLength)) } : {};
}

/**
 * Merges a schema with everything that it references or combines. Later keywords override earlier ones, and fields are
 * united.
 */
function merge(schema: unknown, documents: ReadonlyMap<string, object>, choice: number, depth: number): JsonObject {
  if (!isObject(schema) || depth > DEEPEST) return {};
  const { $ref, allOf, anyOf, oneOf, ...own } = schema;
  const branches = [
    ...(typeof $ref === "string" ? [documents.get($ref.replace(/\.json.*$/, ""))] : []),
    ...(Array.isArray(allOf) ? allOf : []),
    ...LISTS.flatMap((key) => {
      const list = key === "anyOf" ? anyOf : oneOf;
      return Array.isArray(list) && list.length > 0 ? [list[choice % list.length]] : [];
    }),
  ];
  return branches.reduce<JsonObject>(
    (whole, branch) => unite(whole, merge(branch, documents, choice, depth + 1), { documents, choice, depth }),
    own,
  );
}

interface Terms {
  readonly documents: ReadonlyMap<string, object>;
  readonly choice: number;
  readonly depth: number;
}

function unite(one: JsonObject, other: JsonObject, { documents, choice, depth }: Terms): JsonObject {
  const [first, second] = [one, other].map(({ properties }) => (isObject(properties) ? properties : {})) as [
    JsonObject,
    JsonObject,
  ];
  const both = Object.keys(second).map((name) => [
    name,
    name in first ? merge({ allOf: [first[name], second[name]] }, documents, choice, depth + 1) : second[name],
  ]);
  const required = [one.required, other.required].flatMap((names) => (Array.isArray(names) ? names : []));
  return {
    ...one,
    ...other,
    properties: { ...first, ...Object.fromEntries(both) },
    required: [...new Set(required)],
  };
}
