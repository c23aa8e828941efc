import { isObject, type JsonObject } from "../../../core/json.ts";
import type { Service } from "../../../core/service.ts";
import { parametersOf } from "../../../core/set/route.ts";
import type { DescribedField } from "../../schema/fields.ts";
import { type Html, html } from "../html.ts";

/** The form control for a field, and the type as which its text is sent. */
interface FieldKind {
  /** `any`: a number, boolean or list when the text is one in JSON, otherwise a text. */
  readonly type: "string" | "integer" | "number" | "boolean" | "json" | "any";
  /** The types that the schema takes, where text is one of several: text of any other type is text. */
  readonly types?: readonly string[];
  readonly choices?: readonly string[];
  readonly isLong?: boolean;
  readonly example?: unknown;
}

/** Longer examples get a whole line. */
const NARROW_TEXT = 20;
/** Fields with a higher maximum length get a text area. */
const LONG_TEXT = 200;

/**
 * The form that the script activates: a field for each property of the input, and the whole input as JSON. The script
 * finds its parts by class and `data-` attributes.
 * @param schema of the input, self-contained
 * @param fields the same, described
 */
export function toTryForm(
  { manifest, routes, path }: Service,
  schema: JsonObject,
  fields: readonly DescribedField[],
): Html {
  const { id, title, examples } = manifest;
  const texts = examples.map(({ input }) => JSON.stringify(input, null, 2));
  const rows = Math.min(14, Math.max(3, (texts[0] ?? "{}").split("\n").length));
  const given = examples.map(({ input }) => input as JsonObject); // The schema, which is an object's, has checked them.
  const properties = isObject(schema.properties) ? schema.properties : {};
  const inputs = fields.flatMap((field) => {
    const property = properties[field.name];
    const kind = property === true ? kindOf({}) : isObject(property) && kindOf(property);
    if (!kind) return [];
    const shown = given.map((input) => input[field.name]);
    return [toField(`_${id}-field-${field.name}`, field, withExamples(kind, shown))];
  });
  return html`<form class="try" hidden novalidate data-id="${id}" data-method="${routes[0]?.method ?? "POST"}" data-path="${path}" data-parameters="${parametersOf(path).join(" ")}">
<h2>Try it</h2>
${
  texts.length > 1 &&
  html`<p class="choose"><label for="_${id}-example">Example</label>
<select id="_${id}-example" class="example" autocomplete="off">${texts.map((text, at) => html`<option value="${text}">${at + 1}</option>`)}</select></p>`
}
<div class="inputs">${inputs}</div>
<details class="more raw"${inputs.length === 0 && html` open`}><summary>The same as JSON</summary>
<label for="_${id}-input">Input of ${title}, as JSON</label>
<textarea id="_${id}-input" class="input" rows="${rows}" spellcheck="false" autocapitalize="off" autocomplete="off">${texts[0] ?? "{}"}</textarea></details>
<p><button type="submit">${toVerb(manifest)}</button></p>
<p class="status" role="status"></p>
<div class="outcome"></div>
</form>`;
}

/** A field of one line would lose the lines of an example. */
const withExamples = (kind: FieldKind, examples: readonly unknown[]): FieldKind => ({
  ...kind,
  ...(examples.some((example) => typeof example === "string" && example.includes("\n")) && { isLong: true }),
  example: examples[0],
});

/** The button's label. */
function toVerb({ price, sign_in: needsSignIn }: Service["manifest"]): string {
  if (price !== undefined) return "See the price";
  return needsSignIn ? "Sign in" : "Call it";
}

function toField(id: string, { name, isRequired, rules }: DescribedField, kind: FieldKind): Html {
  const { type, types, choices, isLong, example } = kind;
  const isWide = isLong || type === "json" || (typeof example === "string" && example.length > NARROW_TEXT);
  const told = rules.filter((rule) => (choices === undefined ? rule.length <= 60 : rule.startsWith("default ")));
  const rulesId = `${id.replaceAll(/\s/g, "_")}-rules`; // A list of ids is separated by white space.
  const described = told.length > 0 && html` aria-describedby="${rulesId}"`;
  const data = html`id="${id}" data-field="${name}" data-type="${type}"${types && html` data-types="${types.join(" ")}"`}${isRequired && html` data-required`}${described}`;
  return html`<div class="field${isWide && " wide"}"><label for="${id}"><code>${name}</code>${isRequired && html` <span class="required">required</span>`}</label>
${toControl(data, kind)}
${told.length > 0 && html`<small id="${rulesId}">${told.join(" · ")}</small>`}</div>`;
}

function toControl(data: Html, { type, choices, isLong }: FieldKind): Html {
  if (choices)
    return html`<select ${data}><option value="">–</option>${choices.map((choice) => html`<option value="${choice}">${choice}</option>`)}</select>`;
  if (type === "json" || isLong) return html`<textarea ${data} rows="${isLong ? 3 : 2}" spellcheck="false"></textarea>`;
  const mode = type === "integer" ? "numeric" : type === "number" ? "decimal" : "text";
  return html`<input ${data} type="text" inputmode="${mode}" autocomplete="off" autocapitalize="off" spellcheck="false">`;
}

function kindOf(property: JsonObject): FieldKind {
  const branches = [property.anyOf, property.oneOf].flatMap((list) =>
    Array.isArray(list) ? list.filter(isObject) : [],
  );
  const real = branches.filter(({ type }) => type !== "null");
  if (real.length === 1) return kindOf({ ...real[0] });
  const named = real.length > 0 ? real.flatMap(({ type }) => type) : [property.type].flat();
  const types = [...new Set(named)].filter((type) => type !== "null");
  const { maxLength, enum: values = "const" in property ? [property.const] : undefined } = property;
  const choices: unknown[] | undefined = Array.isArray(values) ? values.filter((value) => value !== null) : undefined;
  if (choices?.every((choice) => typeof choice === "string")) return { type: "string", choices };
  if (choices?.every((choice) => typeof choice === "number")) return { type: "number", choices: choices.map(String) };
  const [only, ...others] = types;
  if (others.length > 0) return { type: types.includes("object") ? "json" : "any", ...toTextTypes(types) };
  if (only === "boolean") return { type: "boolean", choices: ["true", "false"] };
  if (only === "integer" || only === "number") return { type: only };
  if (only === "string")
    return { type: "string", ...(typeof maxLength === "number" && maxLength > LONG_TEXT && { isLong: true }) };
  return { type: "json" };
}

/** Nothing where a branch does not say its type. */
const toTextTypes = (types: readonly unknown[]): Pick<FieldKind, "types"> =>
  types.includes("string") && types.every((type) => typeof type === "string") ? { types } : {};
