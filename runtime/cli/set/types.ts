import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import manifestSchema from "../../../schemas/manifest.json" with { type: "json" };
import siteSchema from "../../../schemas/site.json" with { type: "json" };
import { Problem } from "../../api/problem.ts";
import { splitHandler } from "../../core/set/plugins.ts";
import { toFaultReport } from "./check.ts";
import { renewTables } from "./key-tables.ts";
import { loadSet, type ManifestSet } from "./load.ts";
import { planTypes, type TypePlan } from "./type-plan.ts";
import { toTypeSchema } from "./type-schemas.ts";

/** The file with the types of the plugins, relative to the served directory. */
const TYPES = "schemas/generated/services.ts";
/** The file with the types of manifests and of `_site.yaml`, which only payphone's own directory has. */
const OWN_TYPES = "schemas/generated/manifests.ts";
const OWN: TypePlan["types"] = [
  { name: "Manifest", schema: toTypeSchema(manifestSchema, "returned", String) },
  {
    name: "UpstreamKey",
    schema: toTypeSchema(siteSchema.properties.upstreams.items.properties.key, "returned", String),
  },
  { name: "SiteManifest", schema: toTypeSchema(siteSchema, "returned", () => "UpstreamKey") }, // The only reference in it.
];
/** The generator calls this method of the mapping of the fields, so a field of this name has another one meanwhile. */
const SHADOWING = "hasOwnProperty";
const STAND_IN = "hasOwnProperty\u01c3"; // A letter, so that the name needs no quotes.
const HEADER = '// Generated from manifests/ and schemas/ by "payphone types". Do not edit.\n';

/**
 * Writes the generated files of a directory: the types, and the tables in its READMEs.
 * @returns the stale files, relative to the directory; with `check`, nothing is written.
 * @throws Problem `unavailable` with the report of the set's faults.
 */
export async function writeTypes(dir: string, { check = false } = {}): Promise<readonly string[]> {
  const set = await loadSet(dir);
  if (set.faults.length > 0) throw new Problem("unavailable", toFaultReport(set.faults));
  const files = new Map([[TYPES, await toServices(set)], ...(await renewTables(dir, set.manifests))]);
  if (existsSync(join(set.dir, OWN_TYPES))) files.set(OWN_TYPES, await toTypes(OWN));
  const stale: string[] = [];
  for (const [file, text] of files) {
    const path = join(resolve(dir), file);
    if ((await readIfThere(path))?.replaceAll("\r\n", "\n") === text) continue; // As git writes files on Windows.
    stale.push(file);
    if (check) continue;
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
  return stale;
}

/** The text of `services.ts`: a type for every schema, and the types of each plugin's handlers. */
async function toServices({ dir, manifests, schemas }: ManifestSet): Promise<string> {
  const { types, handlers } = planTypes(manifests, schemas);
  return [await toTypes(types), toPlugins(handlers, await contractOf(dir))].join("\n");
}

async function toTypes(types: TypePlan["types"]): Promise<string> {
  const { compile } = await openGenerator();
  const options = { additionalProperties: false, bannerComment: "", style: { printWidth: 120 } };
  const texts: string[] = [];
  for (const { name, schema } of types) {
    const renamed: object = JSON.parse(JSON.stringify(schema).replaceAll(`"${SHADOWING}"`, `"${STAND_IN}"`));
    texts.push((await compile(renamed, name, options)).replaceAll(STAND_IN, SHADOWING));
  }
  return [HEADER, ...texts].join("\n");
}

/** Loads the type generator, which a production image lacks. @throws Problem `unavailable` when it is not installed. */
const openGenerator = (): Promise<typeof import("json-schema-to-typescript")> =>
  import("json-schema-to-typescript").catch((cause: unknown) => {
    const how = "Types are made with the optional package json-schema-to-typescript: install without --omit=optional";
    throw new Problem("unavailable", how, { cause });
  });

/** The name by which plugins import the contract: a shop that has payphone installed uses the package's name. */
async function contractOf(dir: string): Promise<"#plugin" | "payphone/plugin"> {
  const text = await readIfThere(join(dir, "package.json"));
  if (text === undefined) return "#plugin";
  const { dependencies, devDependencies } = parsePackage(text);
  return "payphone" in { ...dependencies, ...devDependencies } ? "payphone/plugin" : "#plugin";
}

/** A byte order mark is nothing to npm. */
function parsePackage(text: string): Partial<Record<string, object>> {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw new Problem("bad-request", `package.json is no JSON: ${(error as Error).message}`);
  }
}

const readIfThere = (path: string): Promise<string | undefined> => readFile(path, "utf8").catch(() => undefined);

/**
 * Declares the handlers in the interface `Plugins` by declaration merging, from which `definePlugin` takes their types.
 */
function toPlugins(handlers: TypePlan["handlers"], contract: string): string {
  const plugins = Map.groupBy(handlers, ({ handler }) => splitHandler(handler).plugin);
  const lines = [...plugins].flatMap(([plugin, own]) => {
    const keys = Map.groupBy(own, ({ handler }) => splitHandler(handler).key);
    const members = [...keys].map(([key, uses]) => {
      // A handler of two services accepts the input of either, and its output must fit both.
      const input = [...new Set(uses.map((use) => use.input))].join(" | ");
      const output = [...new Set(uses.map((use) => use.output))].join(" & ");
      return `      ${key}: { input: ${input}; output: ${output} };`;
    });
    return [`    ${/^\w+$/.test(plugin) ? plugin : JSON.stringify(plugin)}: {`, ...members, "    };"];
  });
  return `declare module "${contract}" {\n  interface Plugins {\n${lines.join("\n")}\n  }\n}\n\nexport {};\n`;
}
