import { isObject, unescapeStep } from "../json.ts";

/** What is wrong with a JSON Pointer (RFC 6901, section 3), or nothing. */
export function explainPointer(text: string): string | undefined {
  if (text !== "" && !text.startsWith("/")) return `a JSON Pointer begins with a slash: "${toPointer(text)}"`;
  return /~(?![01])/.test(text) ? 'in a JSON Pointer "~" is written "~0", and "/" within a name "~1"' : undefined;
}

/** The JSON Pointer of a dotted path: `$.data[0].rates` is `/data/0/rates`. */
const toPointer = (path: string): string =>
  `/${path
    .replace(/^\$?\.?/, "")
    .replaceAll(/\[["']?([^\]"']*)["']?\]/g, ".$1")
    .replaceAll(".", "/")}`;

/** The value at a JSON Pointer (RFC 6901, section 4); undefined when it does not exist. */
export const valueAt = (value: unknown, pointer: string): unknown =>
  pointer.split("/").slice(1).map(unescapeStep).reduce(stepInto, value);

function stepInto(value: unknown, step: string): unknown {
  if (Array.isArray(value)) return /^(?:0|[1-9]\d*)$/.test(step) ? value[Number(step)] : undefined;
  return isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}
