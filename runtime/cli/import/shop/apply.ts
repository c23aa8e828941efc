import { Problem } from "../../../api/problem.ts";
import { subschemas } from "../../../core/schema/subschemas.ts";
import { byPlace, type Fault, toFaultLine } from "../../../core/set/faults.ts";
import {
  type Imported,
  type ImportedService,
  type LeftOut,
  MANY,
  type Say,
  toReason,
  type UpstreamEntry,
} from "../imported.ts";
import { findLeftovers, goneFrom, type Leftovers } from "./leftovers.ts";
import type { PartChange } from "./merge.ts";
import { type ImportNotes, readNotes, toNotesFile } from "./notes.ts";
import {
  type FilePlan,
  type PlanTerms,
  planSchema,
  planService,
  planSite,
  SITE_FILE,
  toManifestFile,
  toNotes,
} from "./plan.ts";
import { checkFiles, readShop, type ShopFiles, writeAll } from "./shop-files.ts";

export interface ApplyOptions {
  /** The shop's folder. */
  readonly dir: string;
  /** The upstream id, which also names the file of the import's notes. */
  readonly upstream: string;
  readonly isPriceGiven: boolean;
  /** Whether to write nothing. */
  readonly isDryRun: boolean;
  /** Hears how far a long import is. */
  readonly say?: Say | undefined;
}

export interface AppliedImport {
  readonly imported: Imported;
  /** The imported services that are now in the shop. */
  readonly services: readonly ImportedService[];
  readonly refused: readonly LeftOut[];
  readonly plans: readonly FilePlan[];
  /** One plan for each upstream. */
  readonly site: readonly FilePlan[];
  readonly upstreams: readonly UpstreamEntry[];
  readonly leftovers: Leftovers;
  /** How many services the shop has afterwards. */
  readonly total: number;
  /** Faults that the shop had before the import. */
  readonly faults: readonly Fault[];
}

/**
 * Writes an import into a shop. Only services that pass the check are written, and either all of their files or none.
 * @throws Problem `bad-request` when the shop cannot take the import.
 */
export async function applyImport(imported: Imported, options: ApplyOptions): Promise<AppliedImport> {
  const { dir, upstream, isPriceGiven, isDryRun, say } = options;
  const files = await readShop(dir);
  const notes = await readNotes(dir, upstream);
  const terms: PlanTerms = { files, notes, isPriceGiven, upstreams: imported.upstreams };
  const sound = await planSound(imported, terms, say);
  const { plans, site, services } = sound;
  const after = toNotes(
    imported,
    notes,
    plans,
    site.map((plan, at) => [sound.upstreams[at]?.id ?? "", plan]),
  );
  if (!isDryRun && services.length > 0) {
    const changed = [...overlay(files, plans, site)].filter(([file, text]) => files.get(file) !== text);
    const steps = toSteps(changed, { upstream, notes, after, isThere: (file) => files.has(file) });
    await writeAll(dir, steps, async () => {
      const now = await readShop(dir);
      const [file] = changed.find(([one]) => now.get(one) !== files.get(one)) ?? [];
      const isNoted = JSON.stringify(await readNotes(dir, upstream)) === JSON.stringify(notes);
      if (file !== undefined || !isNoted)
        throw new Error(
          `${file ?? toNotesFile(upstream)} was changed meanwhile, by hand or by another import; import again`,
        );
    });
  }
  const leftovers = findLeftovers(imported, terms, { after: overlay(files, plans, site), services });
  return { ...sound, imported, leftovers };
}

interface Steps {
  readonly upstream: string;
  readonly notes: ImportNotes | undefined;
  readonly after: ImportNotes;
  readonly isThere: (file: string) => boolean;
}

/**
 * The order of writing. After an interruption, the shop has no faults and a second import can continue: new files are
 * noted before they are written, changed files afterwards, and manifests are written after the files that they name.
 */
function toSteps(
  changed: readonly (readonly [file: string, text: string])[],
  { upstream, notes, after, isThere }: Steps,
): (readonly [file: string, text: string])[] {
  const rank = (file: string): number => (file.startsWith("schemas/") ? 0 : file === SITE_FILE ? 1 : 2);
  const ordered = changed.toSorted(([one], [other]) => rank(one) - rank(other));
  if (JSON.stringify(notes) === JSON.stringify(after)) return ordered;
  const fresh = Object.entries(after.files).filter(([file]) => notes?.files[file] === undefined && !isThere(file));
  const before = { ...after, files: { ...notes?.files, ...Object.fromEntries(fresh) } };
  const toFile = (one: ImportNotes) => [toNotesFile(upstream), `${JSON.stringify(one, undefined, 1)}\n`] as const;
  return [...(fresh.length > 0 ? [toFile(before)] : []), ...ordered, toFile(after)];
}

type Sound = Omit<AppliedImport, "imported" | "leftovers">;

/** Plans the files. Omits services until the check finds no fault in the rest. */
async function planSound(imported: Imported, terms: PlanTerms, say?: Say): Promise<Sound> {
  const refused: LeftOut[] = [...imported.refused];
  let services = imported.services;
  for (;;) {
    const own = services.flatMap((service) => {
      const plan = tryPlan(service, terms, refused);
      return plan ? [{ service, plan }] : [];
    });
    services = own.map(({ service }) => service);
    const schemas = usedSchemas(services, imported).map((name) => toSchemaPlan(name, imported, terms));
    const plans = [...own.map(({ plan }) => plan), ...schemas];
    const upstreams = usedUpstreams(services, imported);
    const site = planSite(upstreams, terms, new Set(own.map(({ plan }) => plan.file)));
    if (services.length >= MANY) say?.(`Checking ${services.length} services`);
    const { set, faults } = await checkFiles(overlay(terms.files, plans, site));
    const planned = { services, refused, plans, site, upstreams, total: set.manifests.length };
    if (faults.length === 0) return { ...planned, faults };
    const gone = goneFrom(imported, terms);
    await known(
      faults.filter(({ file }) => file === SITE_FILE),
      terms,
      gone,
    );
    const spoilt = services.filter((service) => faultOf(service, imported, faults));
    if (spoilt.length === 0) return { ...planned, faults: await known(faults, terms, gone) };
    for (const service of spoilt) {
      const kept = own.find((one) => one.service === service)?.plan.merged.kept ?? [];
      const reason = `it would not pass the check: ${faultOf(service, imported, faults)?.message}${toOwnEdits(kept)}`;
      refused.push({ name: service.name, reason });
    }
    services = services.filter((service) => !spoilt.includes(service));
  }
}

/** What the operator has edited and the source has changed since, for which a service may not pass the check. */
const toOwnEdits = (kept: readonly PartChange[]): string =>
  kept.length === 0
    ? ""
    : `; you have edited ${kept.map(({ name }) => name).join(", ")}, where the source has changed, too: follow it there, or delete the manifest, and import again`;

function tryPlan(service: ImportedService, terms: PlanTerms, refused: LeftOut[]): FilePlan | undefined {
  try {
    return planService(service, terms);
  } catch (error) {
    refused.push({ name: service.name, reason: toReason(error) });
    return undefined;
  }
}

function toSchemaPlan(name: string, { schemas }: Imported, terms: PlanTerms): FilePlan {
  try {
    return planSchema(name, schemas.get(name) ?? {}, terms);
  } catch (error) {
    throw new Problem("bad-request", `Nothing was written: ${toReason(error)}`);
  }
}

/**
 * The faults that the shop had before. @throws Problem `bad-request` with the faults that the import would add.
 * @param gone as of `goneFrom`: a schema that they share with other services may no longer fit them.
 */
async function known(
  faults: readonly Fault[],
  { files }: PlanTerms,
  gone: readonly string[],
): Promise<readonly Fault[]> {
  const earlier = new Set(
    (await checkFiles(files)).faults.map(({ file, code, message }) => `${file} ${code} ${message}`),
  );
  const added = faults.filter(({ file, code, message }) => !earlier.has(`${file} ${code} ${message}`));
  if (added.length === 0) return faults;
  const toLines = (some: readonly Fault[]): string[] => some.toSorted(byPlace).map(toFaultLine);
  const isGone = ({ file }: Fault): boolean => gone.includes(file);
  const lines = ["Nothing was written; the shop would have faults:", ...toLines(added.filter((one) => !isGone(one)))];
  if (added.some(isGone))
    lines.push("no longer in the source; delete these files, and import again:", ...toLines(added.filter(isGone)));
  throw new Problem("bad-request", lines.join("\n"));
}

function overlay(files: ShopFiles, plans: readonly FilePlan[], site: readonly FilePlan[]): ShopFiles {
  return new Map([...files, ...[...plans, ...site].map(({ file, text }) => [file, text] as const)]);
}

/** The fault because of which a service is omitted: in its manifest, or in a schema that it references. */
function faultOf(service: ImportedService, imported: Imported, faults: readonly Fault[]): Fault | undefined {
  const own = faults.find(({ file }) => file === toManifestFile(service.manifest.id));
  if (own || !faults.some(({ file }) => file.startsWith("schemas/"))) return own;
  const files = new Set(usedSchemas([service], imported).map((name) => `schemas/${name}.json`));
  return faults.find(({ file }) => files.has(file));
}

function usedUpstreams(services: readonly ImportedService[], { upstreams }: Imported): readonly UpstreamEntry[] {
  const used = services.map(({ manifest }) => manifest.proxy as { upstream?: string; mcp?: string });
  return upstreams.filter(({ id }) => used.some(({ upstream, mcp }) => upstream === id || mcp === id));
}

/** The names of the schemas that services reference directly or indirectly. */
function usedSchemas(services: readonly ImportedService[], { schemas }: Pick<Imported, "schemas">): readonly string[] {
  const found = new Set<string>();
  const visit = (name: string): void => {
    if (found.has(name) || !schemas.has(name)) return;
    found.add(name);
    look(schemas.get(name));
  };
  const look = (schema: unknown): void => {
    if (typeof schema === "string") visit(schema);
    for (const { schema: part } of subschemas(schema))
      if (typeof part.$ref === "string") visit(part.$ref.replace(/\.json.*$/, ""));
  };
  for (const { manifest } of services) {
    look(manifest.input);
    look(manifest.output);
  }
  return [...found];
}
