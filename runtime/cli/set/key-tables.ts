import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import manifestSchema from "../../../schemas/manifest.json" with { type: "json" };
import siteSchema from "../../../schemas/site.json" with { type: "json" };
import { PROBLEMS } from "../../api/problem.ts";
import { isObject } from "../../core/json.ts";
import { FAULT_CODES } from "../../core/set/faults.ts";
import type { Manifest } from "../../core/set/manifest.ts";

const READMES = ["README.md", "manifests/README.md", "runtime/docs/errors.md"];
const TABLES: Readonly<Record<string, (manifests: readonly Manifest[]) => string>> = {
  "the keys of a manifest": () => toKeyTable(manifestSchema),
  "the keys of _site.yaml": () => toKeyTable(siteSchema),
  "the codes of faults": toFaultTable,
  "the codes of problems": toProblemTable,
  "the services": toServiceTable,
};

/**
 * The READMEs of a directory with renewed generated tables, by file name; missing files are skipped. A table is between
 * `<!-- generated: the keys of a manifest -->` and `<!-- end -->`.
 */
export async function renewTables(dir: string, manifests: readonly Manifest[]): Promise<ReadonlyMap<string, string>> {
  const texts = READMES.map(async (file) => {
    const text = await readFile(join(resolve(dir), file), "utf8").catch(() => undefined);
    return text === undefined ? [] : [[file, toRenewed(text, manifests)] as const];
  });
  return new Map((await Promise.all(texts)).flat());
}

const toRenewed = (text: string, manifests: readonly Manifest[]): string =>
  text.replaceAll(
    /(<!-- generated: ([^\n]+) -->\n).*?(<!-- end -->)/gs,
    (whole, start: string, name: string, end: string) => {
      const table = TABLES[name];
      return table ? `${start}\n${table(manifests)}\n${end}` : whole;
    },
  );

function toKeyTable(schema: object): string {
  return ["| Key | Needed | What it says |", "|---|---|---|", ...toRows(schema, ""), ""].join("\n");
}

/** One row for each key in the schema's order, followed by the rows of the keys within it. */
function toRows(schema: unknown, prefix: string): string[] {
  if (!isObject(schema) || !isObject(schema.properties)) return [];
  const required = (schema.required ?? []) as readonly string[];
  return Object.entries(schema.properties).flatMap(([key, part]) => {
    const { items, ...told } = part as KeySchema;
    const path = `${prefix}${key}`;
    const row = `| \`${path}\` | ${required.includes(key) ? "yes" : "no"} | ${toCell(withLimits(told))} |`;
    return [row, ...toRows(part, `${path}.`), ...toRows(items, `${path}[].`)];
  });
}

/** What is said of a key in its schema. */
interface KeySchema {
  readonly description?: string;
  readonly items?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
}

/** The description, and the limits that it does not name. */
function withLimits({ description = "", minimum, maximum, maxLength, maxItems }: KeySchema): string {
  const limits = [
    maximum !== undefined && `From ${minimum} to ${maximum}.`,
    maxLength !== undefined && !description.includes(`${maxLength}`) && `At most ${maxLength} characters.`,
    maxItems !== undefined && !description.includes(`${maxItems}`) && `At most ${maxItems}.`,
  ];
  return [description, ...limits.filter((limit) => limit !== false)].join(" ");
}

function toFaultTable(): string {
  const rows = Object.entries(FAULT_CODES).map(([code, meaning]) => `| \`${code}\` | ${toCell(meaning)} |`);
  return ["| Code | What it means |", "|---|---|", ...rows, ""].join("\n");
}

function toProblemTable(): string {
  const rows = Object.entries(PROBLEMS).map(
    ([code, { status, rpc, title }]) => `| \`${code}\` | ${status} | ${rpc} | ${toCell(title)} |`,
  );
  return ["| Code | Status | JSON-RPC | Meaning |", "|---|---|---|---|", ...rows, ""].join("\n");
}

function toServiceTable(manifests: readonly Manifest[]): string {
  const rows = manifests.map(({ id, title, route, aliases = [], price }) => {
    const routes = [route, ...aliases].map((one) => `\`${one}\``).join(", ");
    return `| \`${id}\` | ${toCell(title)} | ${routes} | ${price === undefined ? "free" : `$${price}`} |`;
  });
  return ["| Id | Service | Route | Price |", "|---|---|---|---|", ...rows, ""].join("\n");
}

const toCell = (text: string): string => text.replaceAll("|", "\\|");
