import { isObject, type JsonObject } from "../../../core/json.ts";
import type { Field } from "./parameters.ts";
import type { Pointers } from "./pointers.ts";

/** How a part of a form is read. */
export interface PartTerms {
  /** The form's `encoding` of the part. */
  readonly encoding: unknown;
  readonly pointers: Pointers;
}

/** Larger files do not fit into a call. */
export const MOST_BASE64 = 1_000_000;
/** Bytes as an example, in base64. */
export const HELLO = Buffer.from("Hello").toString("base64");
const HELLO_FILE = { data: HELLO, name: "hello.txt", media: "text/plain" };
/** The schema of bytes. */
export const BYTES = {
  type: "string",
  contentEncoding: "base64",
  maxLength: MOST_BASE64,
  description: "The file, in base64.",
  examples: [HELLO],
};

/** @param most characters of base64 */
export const toFilePart = (own: JsonObject, most: number): Pick<Field, "schema" | "examples"> => ({
  schema: toFileSchema(own, most),
  examples: [own.type === "array" ? [HELLO_FILE] : HELLO_FILE],
});

/** Whether a part of a form is a file, or a list of files. */
export function isFilePart(part: unknown, { encoding, pointers }: PartTerms): boolean {
  const schema = pointers.tryObject(part);
  if (schema.type === "array") return isFilePart(schema.items, { encoding, pointers });
  const { type, format, contentMediaType, contentEncoding } = schema;
  if (type !== undefined && type !== "string" && type !== "file") return false;
  const { contentType = contentMediaType } = isObject(encoding) ? encoding : {};
  const isOther = typeof contentType === "string" && !/^text\/|json|urlencoded/i.test(contentType);
  const isEncoded = /^(?:binary|base64)$/.test(String(contentEncoding));
  return type === "file" || /^(?:binary|byte)$/.test(String(format)) || isEncoded || isOther;
}

function toFileSchema({ type, description, maxItems, minItems }: JsonObject, most: number): JsonObject {
  const said = typeof description === "string" && description.trim() !== "" ? description.trim() : "A file.";
  const file = {
    type: "object",
    description: said,
    properties: {
      data: { ...BYTES, maxLength: most },
      name: { type: "string", maxLength: 200, description: 'Its name, such as "report.pdf".' },
      media: { type: "string", maxLength: 100, description: 'Its media type, such as "application/pdf".' },
    },
    required: ["data"],
    examples: [HELLO_FILE],
  };
  return type === "array" ? { type, items: file, minItems, maxItems, description: said } : file;
}
