import {
  Document,
  isCollection,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Node,
  parseDocument,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import type { JsonObject } from "../../../core/json.ts";
import type { PartChange } from "./merge.ts";

const FORMAT = { lineWidth: 118, flowCollectionPadding: true, version: "1.2" } as const;

export interface ManifestComments {
  /** The lines at the top. */
  readonly top: readonly string[];
  /** The comment above the examples. */
  readonly examples?: string;
}

/** A manifest as a new file. */
export function toManifestText(manifest: JsonObject, { top, examples }: ManifestComments): string {
  const document = new Document(manifest, { version: "1.2", aliasDuplicateObjects: false });
  foldShort(document, 0);
  const text = document.toString(FORMAT);
  const lines = top.map((line) => `# ${line}\n`).join("");
  return lines + (examples === undefined ? text : text.replace(/^examples:/m, `# ${examples}\nexamples:`));
}

const ONE_LINE = 90;

/**
 * Puts short lists and mappings of plain values on one line, as people write them. @param depth how deeply they may be
 * nested.
 */
function foldShort(document: Document, depth: number): void {
  visit(document, {
    Collection(_key, node, path) {
      node.flow = path.length > depth && isShort(node);
    },
  });
}

function isShort(node: YAMLMap | YAMLSeq): boolean {
  const values = node.items.map((item) => (isPair(item) ? item.value : item));
  return values.every((value) => isScalar(value)) && JSON.stringify(node.toJSON()).length <= ONE_LINE;
}

/** The text of a file with some parts changed. Everything else keeps its comments. */
export function toChangedText(text: string, changes: readonly PartChange[]): string {
  const document = parseDocument(text, { version: "1.2" });
  for (const { path, after } of changes) change(document, path, after);
  return document.toString(FORMAT);
}

function change(document: Document, path: readonly string[], after: unknown): void {
  if (after !== undefined) {
    document.setIn(path, document.createNode(after));
    return;
  }
  document.deleteIn(path);
  const around = path.slice(0, -1);
  const left = around.length > 0 ? document.getIn(around) : undefined;
  if (isMap(left) && left.items.length === 0) document.deleteIn(around); // No empty mapping stays.
}

/** The text of `_site.yaml` with one more upstream at the end of its list. The rest is unchanged. */
export function toTextWithUpstream(text: string, entry: JsonObject): string {
  const document = parseDocument(text, { version: "1.2" });
  const list = document.get("upstreams", true);
  if (isSeq(list) && !list.flow && list.items.length > 0) {
    const last = endOf(list);
    const [first] = list.items;
    const start = (first as Node).range?.[0] ?? 0;
    const dash = text.lastIndexOf("-", start);
    const indent = " ".repeat(dash - (text.lastIndexOf("\n", dash) + 1));
    const at = endOfLine(text, last);
    return `${text.slice(0, at)}\n${toItem(entry, indent)}${text.slice(at)}`;
  }
  if (list === undefined || list === null) return `${text.replace(/\n*$/, "\n")}\nupstreams:\n${toItem(entry, "  ")}\n`;
  if (isSeq(list)) document.addIn(["upstreams"], document.createNode(entry));
  else document.set("upstreams", document.createNode([entry])); // The key without a value.
  return document.toString(FORMAT);
}

function toItem(entry: JsonObject, indent: string): string {
  const document = new Document([entry], { version: "1.2" });
  foldShort(document, 2);
  const lines = document.toString(FORMAT).trimEnd().split("\n");
  return lines.map((line) => indent + line).join("\n");
}

/** The offset after the last value of a collection. The collection's own range may include comments that follow. */
function endOf(node: unknown): number {
  if (isPair(node)) return endOf(node.value ?? node.key);
  if (isCollection(node) && !node.flow && node.items.length > 0) return endOf(node.items.at(-1));
  if (isScalar(node) || isCollection(node)) return node.range?.[1] ?? 0;
  return 0;
}

/** The end of the line at an offset; of the previous line, when a block scalar has taken the line break. */
function endOfLine(text: string, offset: number): number {
  if (text[offset - 1] === "\n") return offset - 1;
  const found = text.indexOf("\n", offset);
  return found < 0 ? text.length : found;
}
