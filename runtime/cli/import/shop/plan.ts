import { parse } from "yaml";
import { Problem } from "../../../api/problem.ts";
import { isObject, type JsonObject } from "../../../core/json.ts";
import { type Imported, type ImportedService, Refused, type UpstreamEntry } from "../imported.ts";
import { toIdList } from "../names.ts";
import { variablesOf } from "../variables.ts";
import { type Merged, mergeFile } from "./merge.ts";
import { type ImportNotes, type Parts, toDigests, toPartDigest } from "./notes.ts";
import type { ShopFiles } from "./shop-files.ts";
import { toChangedText, toManifestText, toTextWithUpstream } from "./yaml-text.ts";

/** The effect of an import on one file. */
export interface FilePlan {
  readonly file: string;
  /** The file's whole new text. */
  readonly text: string;
  readonly isNew: boolean;
  readonly merged: Merged;
  /** The digests of the source's content. */
  readonly parts: Parts;
}

/** The file with the facts about all services. */
export const SITE_FILE = "manifests/_site.yaml";
const NOTHING: Merged = { changes: [], kept: [] };
const DERIVED = "Made from the schema: the source has no example that fits it.";

export const toManifestFile = (id: string): string => `manifests/${id}.yaml`;

/** The facts from which an import is planned. */
export interface PlanTerms {
  readonly files: ShopFiles;
  readonly notes: ImportNotes | undefined;
  /** Whether a price was given; otherwise existing services keep theirs. */
  readonly isPriceGiven: boolean;
  readonly upstreams: readonly UpstreamEntry[];
}

/** Plans the files of one service. @throws Refused when another service of the shop has its id. */
export function planService(
  { manifest, isDerived }: ImportedService,
  { files, notes, isPriceGiven, upstreams }: PlanTerms,
): FilePlan {
  const file = toManifestFile(manifest.id);
  const text = files.get(file);
  const parts = toDigests(manifest);
  if (text === undefined)
    return {
      file,
      text: toManifestText(manifest, { top: toNeeds(manifest, upstreams), ...(isDerived && { examples: DERIVED }) }),
      isNew: true,
      merged: NOTHING,
      parts,
    };
  const base = notes?.files[file];
  if (!base) throw new Refused(`the shop has another service ${manifest.id}; import under another --upstream`);
  const current = readMapping(file, text);
  // What the source never changes: a price unless one is given, and when a service is charged that was made free.
  const own = [...(isPriceGiven ? [] : ["price"]), ...(current.price === undefined ? ["charge"] : [])];
  const merged = mergeFile(current, withOwn(manifest, current, own), base);
  const changed = merged.changes.length > 0 ? toChangedText(text, merged.changes) : text;
  return { file, text: changed, isNew: false, merged, parts: withOwn(parts, base, own) };
}

/** What the operator must set before the service works, one line each. */
function toNeeds({ proxy }: JsonObject, upstreams: readonly UpstreamEntry[]): readonly string[] {
  const { upstream, mcp } = isObject(proxy) ? proxy : {};
  const entry = upstreams.find(({ id }) => id === (upstream ?? mcp));
  return (entry ? variablesOf(entry) : []).map(({ name, what }) => `Needs ${name} in the environment: ${what}.`);
}

/** The source's keys, but these as they are in the shop, where some may be missing. */
function withOwn<T>(theirs: Readonly<Record<string, T>>, own: Readonly<Record<string, T>>, keys: readonly string[]) {
  const all = { ...theirs, ...Object.fromEntries(Object.entries(own).filter(([key]) => keys.includes(key))) };
  return Object.fromEntries(Object.entries(all).filter(([key]) => !keys.includes(key) || Object.hasOwn(own, key)));
}

/** Plans the file of one schema. @throws Refused when the shop has another schema of this name. */
export function planSchema(name: string, schema: JsonObject, { files, notes }: PlanTerms): FilePlan {
  const file = `schemas/${name}.json`;
  const text = files.get(file);
  const parts = toDigests(schema);
  const wanted = `${JSON.stringify(schema, undefined, 2)}\n`;
  if (text === undefined) return { file, text: wanted, isNew: true, merged: NOTHING, parts };
  const current = readMapping(file, text);
  const base = notes?.files[file];
  if (!base) {
    if (toPartDigest(current) === toPartDigest(schema)) return { file, text, isNew: false, merged: NOTHING, parts };
    throw new Refused(`the shop has another schema ${name}; import under another --upstream`);
  }
  const merged = mergeFile(current, schema, base);
  if (merged.changes.length === 0) return { file, text, isNew: false, merged, parts };
  return { file, text: `${JSON.stringify(apply(current, merged), undefined, 2)}\n`, isNew: false, merged, parts };
}

function apply(current: JsonObject, { changes }: Merged): JsonObject {
  const copy = structuredClone(current) as Record<string, unknown>;
  for (const { path, after } of changes) {
    const [key = "", name] = path;
    const inner = isObject(copy[key]) ? { ...copy[key] } : {};
    if (name !== undefined) copy[key] = inner;
    const [target, last] = name === undefined ? [copy, key] : [inner, name];
    if (after !== undefined) target[last] = after;
    else delete target[last];
    if (name !== undefined && Object.keys(inner).length === 0) delete copy[key]; // "properties" makes an object of it.
  }
  return copy;
}

/**
 * Plans `_site.yaml` with the upstreams of an import. @throws Problem `bad-request` when an id already belongs to
 * another source, or when services would be asked elsewhere, or with other credentials, that this import does not know.
 * @param imported the manifests' files of this import.
 */
export function planSite(
  upstreams: readonly UpstreamEntry[],
  { files, notes }: PlanTerms,
  imported: ReadonlySet<string>,
): readonly FilePlan[] {
  let text = files.get(SITE_FILE);
  if (text === undefined)
    throw new Problem(
      "bad-request",
      `There is no ${SITE_FILE} here: begin with "payphone init", or name the shop with --dir`,
    );
  const plans: FilePlan[] = [];
  for (const entry of upstreams) {
    const known = listUpstreams(text);
    const at = known.findIndex(({ id }) => id === entry.id);
    const parts = toDigests(entry);
    if (at < 0) {
      text = toTextWithUpstream(text, entry);
      plans.push({ file: SITE_FILE, text, isNew: true, merged: NOTHING, parts });
      continue;
    }
    const current = known[at] as JsonObject;
    const base = notes?.files[`${SITE_FILE} ${entry.id}`];
    if (!base && placeOf(current) !== placeOf(entry)) throw taken(entry, current);
    const merged = base ? mergeFile(current, entry, base) : NOTHING;
    refuseForOthers(entry, merged, usersOf(entry.id, files, imported));
    const changes = merged.changes.map((change) => ({ ...change, path: ["upstreams", at, ...change.path] as never }));
    if (changes.length > 0) text = toChangedText(text, changes);
    plans.push({ file: SITE_FILE, text, isNew: false, merged, parts });
  }
  return plans;
}

function taken(entry: UpstreamEntry, current: JsonObject): Problem {
  const where = `${placeOf(current) ?? "another address"}, and not ${placeOf(entry) ?? "this one"}`;
  return new Problem(
    "bad-request",
    `The upstream ${entry.id} of ${SITE_FILE} is ${where}: name another with --upstream`,
  );
}

/** The address of a source, or the program that it is. */
const placeOf = ({ url, command }: JsonObject): string | undefined =>
  Array.isArray(command) ? command.join(" ") : url === undefined ? undefined : String(url);

/** The services of a shop that use an upstream, without those of this import. */
const usersOf = (upstream: string, files: ShopFiles, imported: ReadonlySet<string>): readonly string[] =>
  [...files].flatMap(([file, text]) => {
    if (!file.startsWith("manifests/") || file === SITE_FILE || imported.has(file)) return [];
    const { id, proxy, upstreams } = readMapping(file, text);
    const named = isObject(proxy) ? [proxy.upstream, proxy.mcp] : [upstreams].flat();
    return named.includes(upstream) ? [String(id)] : [];
  });

/** One part of a document may have another address, or need other credentials, than what was imported before. */
function refuseForOthers({ id }: UpstreamEntry, { changes }: Merged, users: readonly string[]): void {
  const parts = changes.filter(({ name }) => name !== "title").map(({ name }) => name);
  if (parts.length === 0 || users.length === 0) return;
  throw new Problem(
    "bad-request",
    `Nothing was written: this import would change the upstream ${id} (${parts.join(", ")}) for ${toIdList(users)}, too: import those services as well, or name another upstream with --upstream`,
  );
}

/** The entries under `upstreams`. @throws Problem `bad-request` when that is no list. */
function listUpstreams(siteText: string): readonly JsonObject[] {
  const { upstreams } = readMapping(SITE_FILE, siteText);
  if (Array.isArray(upstreams)) return upstreams.filter(isObject);
  if (upstreams === undefined || upstreams === null) return [];
  throw new Problem("bad-request", `upstreams of ${SITE_FILE} is no list: see "payphone check"`);
}

/** @throws Problem `bad-request` for an unreadable file. */
function readMapping(file: string, text: string): JsonObject {
  try {
    const data: unknown = file.endsWith(".json")
      ? JSON.parse(text.replace(/^\uFEFF/, ""))
      : parse(text, { version: "1.2" });
    return isObject(data) ? data : {};
  } catch {
    throw new Problem("bad-request", `${file} cannot be read: see "payphone check"`);
  }
}

/** The notes after an import. Notes of other files stay. */
export function toNotes(
  { source }: Pick<Imported, "source">,
  earlier: ImportNotes | undefined,
  plans: readonly FilePlan[],
  site: readonly (readonly [id: string, plan: FilePlan])[],
): ImportNotes {
  const entries = [
    ...Object.entries(earlier?.files ?? {}),
    ...plans.map(({ file, parts }) => [file, parts] as const),
    ...site.map(([id, { parts }]) => [`${SITE_FILE} ${id}`, parts] as const),
  ];
  const files = Object.fromEntries([...new Map(entries)].sort(([one], [other]) => (one < other ? -1 : 1)));
  return { source: toShown(source), files };
}

/** A URL without what may be a credential: the notes are committed. */
function toShown(source: string): string {
  const url = URL.parse(source);
  return url && /^https?:$/.test(url.protocol) ? url.origin + url.pathname : source;
}
