import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import manifestSchema from "../../schemas/manifest.json" with { type: "json" };
import siteSchema from "../../schemas/site.json" with { type: "json" };
import { FAULT_CODES } from "../core/faults.ts";
import { isObject } from "../core/schema-nodes.ts";

const README = "manifests/README.md";
const TABLES: Readonly<Record<string, () => string>> = {
  "the keys of a manifest": () => toKeyTable(manifestSchema),
  "the keys of _site.yaml": () => toKeyTable(siteSchema),
  "the codes of faults": toFaultTable,
};

/**
 * The README for operators with its tables made anew; nothing for a directory that has none. A table stands between
 * `<!-- generated: the keys of a manifest -->` and `<!-- end -->`.
 */
export async function renewTables(dir: string): Promise<ReadonlyMap<string, string>> {
  const text = await readFile(join(resolve(dir), README), "utf8").catch(() => undefined);
  return new Map(text === undefined ? [] : [[README, toRenewed(text)]]);
}

const toRenewed = (text: string): string =>
  text.replaceAll(
    /(<!-- generated: ([^\n]+) -->\n).*?(<!-- end -->)/gs,
    (whole, start: string, name: string, end: string) => {
      const table = TABLES[name];
      return table ? `${start}\n${table()}\n${end}` : whole;
    },
  );

function toKeyTable(schema: object): string {
  return ["| Key | Needed | What it says |", "|---|---|---|", ...toRows(schema, ""), ""].join("\n");
}

/** One row for each key, in the schema's order, and below it one for each key of what it holds. */
function toRows(schema: unknown, prefix: string): string[] {
  if (!isObject(schema) || !isObject(schema.properties)) return [];
  const required = (schema.required ?? []) as readonly string[];
  return Object.entries(schema.properties).flatMap(([key, part]) => {
    const { description, items } = part as { description?: string; items?: unknown };
    const path = `${prefix}${key}`;
    const row = `| \`${path}\` | ${required.includes(key) ? "yes" : "no"} | ${toCell(description)} |`;
    return [row, ...toRows(part, `${path}.`), ...toRows(items, `${path}[].`)];
  });
}

function toFaultTable(): string {
  const rows = Object.entries(FAULT_CODES).map(([code, meaning]) => `| \`${code}\` | ${toCell(meaning)} |`);
  return ["| Code | What it means |", "|---|---|", ...rows, ""].join("\n");
}

const toCell = (text = ""): string => text.replaceAll("|", "\\|");
