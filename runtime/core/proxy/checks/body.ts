import { isCollection, isObject } from "../../json.ts";
import type { ProxyManifest } from "../../set/manifest.ts";
import { parseTemplate, soleOf } from "../template.ts";

/** What is wrong with a body and its encoding, by faulty key. */
export function explainBody(proxy: ProxyManifest, method: string): readonly (readonly [key: string, why: string])[] {
  const { body, encoding, files } = proxy;
  const found: (readonly [key: string, why: string])[] = [];
  if (body !== undefined && method === "GET") found.push(["body", "a GET has no body: write POST, or leave it out"]);
  if (typeof body === "string" && body !== "input" && !/\{[^{}\s]+\}/.test(body))
    found.push(["body", 'write "input" for the input, or a template with placeholders']);
  if ((encoding ?? "json") === "json" && typeof body === "string" && /^\s*(?:\{\s*["}]|\[)/.test(body))
    found.push(["body", 'would be sent as one text: write a mapping, body: { name: "{name}" }, and no JSON']);
  if (encoding === "text" && typeof body === "string" && hasValueInCdata(body))
    found.push(["body", 'a value in a CDATA section would show its escapes: leave "<![CDATA[" and "]]>" out']);
  if (encoding === "text" && typeof body === "string" && OTHER_DECLARATION.test(body))
    found.push(["body", 'is sent in UTF-8: declare encoding="UTF-8"']);
  if (encoding !== undefined && body === undefined) found.push(["encoding", "there is no body to be encoded"]);
  else if (encoding !== undefined)
    found.push(...explainEncoding(proxy, encoding).map((why) => ["encoding", why] as const));
  if (files !== undefined && encoding !== "multipart")
    found.push(["files", "files are sent in a form: say encoding: multipart"]);
  else if (files !== undefined && isObject(body) && files.some((name) => !Object.hasOwn(body, name)))
    found.push(["files", "each is a field of the body"]);
  return found;
}

function explainEncoding({ body, upstream, mcp, headers = {} }: ProxyManifest, encoding: string): string[] {
  const isTemplate = typeof body === "string" && body !== "input";
  if (encoding === "form")
    return Array.isArray(body) || hasNested(body)
      ? ['a form has plain fields: "item[price]" or "item[*]" names what is in a mapping']
      : [];
  if (encoding === "json") return [];
  if (upstream === undefined && mcp === undefined) return ["an address from the input is sent JSON or a form"];
  if (encoding === "multipart") return Array.isArray(body) ? ["a form has fields: write a mapping"] : [];
  if (isTemplate && soleOf(parseTemplate(body))) return [];
  if (encoding === "bytes") return ['bytes come from one field: body: "{data}"'];
  const type = Object.entries(headers).find(([name]) => name.toLowerCase() === "content-type")?.[1] ?? "";
  if (isTemplate && /[/+]xml\b/i.test(type)) return []; // Values are escaped for XML.
  return ['a text is one field, body: "{text}", or a template whose content-type is a kind of XML'];
}

/** An XML declaration of an encoding (XML 1.0, section 2.8) other than UTF-8. */
const OTHER_DECLARATION = /^\s*<\?xml\s[^>]*\sencoding\s*=\s*["'](?!utf-?8["'])/i;

/**
 * Whether a placeholder of XML is in a CDATA section (XML 1.0, section 2.7), where `&#60;` is no escape. A section with markup
 * is a document that is parsed again, and reads the escapes.
 */
const hasValueInCdata = (body: string): boolean =>
  /<!\[CDATA\[[^<]*\0[^<]*\]\]>/.test(
    parseTemplate(body)
      .map((part) => (typeof part === "string" ? part : "\0"))
      .join(""),
  );

const hasNested = (body: unknown): boolean =>
  isCollection(body) && Object.values(body).some((field) => typeof field === "object");
