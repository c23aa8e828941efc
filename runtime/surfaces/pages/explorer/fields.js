import { parseExactly, readObject } from "./exact.js";

/**
 * Keeps the form's fields and its JSON in sync. The JSON is what is sent.
 * @param {HTMLFormElement} form
 * @param {HTMLTextAreaElement} input
 */
export function setUpFields(form, input) {
  const fields = /** @type {NodeListOf<Field>} */ (form.querySelectorAll("[data-field]"));
  for (const field of fields) field.addEventListener("input", () => writeInput(field));
  input.addEventListener("input", readInput);
  readInput();

  /** Fills the fields from the JSON, when it is an object. */
  function readInput() {
    const value = readObject(input.value).value;
    if (!value) return;
    for (const field of fields) {
      const name = field.dataset.field ?? "";
      const part = Object.hasOwn(value, name) ? value[name] : undefined;
      const text = part === undefined || part === null ? "" : toFieldText(part, field.dataset.type);
      if (field.value !== text) field.value = text;
    }
  }

  /**
   * Writes a field into the JSON. Where that is broken, all fields: what they show is what is sent.
   * @param {Field} changed
   */
  function writeInput(changed) {
    const given = readObject(input.value).value;
    const value = given ?? {};
    for (const field of given ? [changed] : fields) {
      const { field: name = "" } = field.dataset;
      const part = toPart(field.value, field.dataset);
      if (part === undefined) delete value[name];
      else value[name] = part;
    }
    input.value = JSON.stringify(value, null, 2);
  }
}

/**
 * Marks the fields at fault, and no others.
 * @param {HTMLFormElement} form
 * @param {ReturnType<typeof import("./request.js").faultsOf>} faults
 */
export function markFaults(form, faults) {
  const names = faults.map(({ loc }) => loc[1]);
  for (const field of /** @type {NodeListOf<Field>} */ (form.querySelectorAll("[data-field]")))
    if (names.includes(field.dataset.field)) field.setAttribute("aria-invalid", "true");
    else field.removeAttribute("aria-invalid");
}

/** @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Field */

/**
 * @param {unknown} part
 * @param {string | undefined} type
 */
const toFieldText = (part, type) => (typeof part === "string" && type !== "json" ? part : JSON.stringify(part));

/**
 * The value of a field; undefined when it is empty. A text that does not fit the field's type is sent unchanged, so
 * that the seller's answer explains the fault.
 * @param {string} text
 * @param {DOMStringMap} field its `data-` attributes
 */
function toPart(text, { type, types, required }) {
  if (text === "" && !(required !== undefined && type === "string")) return undefined;
  if (type === "string") return text;
  const value = parse(text.trim());
  if (value === undefined) return text;
  if (types !== undefined && !typesOf(value).some((one) => types.split(" ").includes(one))) return text;
  const isFit = type === "json" || type === "any" || type === "boolean" || typeof value === "number";
  return isFit ? value : text;
}

/**
 * What a schema calls the type of a value.
 * @param {unknown} value
 */
function typesOf(value) {
  if (typeof value === "number") return Number.isInteger(value) ? ["integer", "number"] : ["number"];
  return [value === null ? "null" : Array.isArray(value) ? "array" : typeof value];
}

/** @param {string} text */
function parse(text) {
  try {
    return parseExactly(text);
  } catch {
    return undefined;
  }
}
