import { parse } from "yaml";
import { isObject } from "../../../core/json.ts";
import type { Imported, ImportedService } from "../imported.ts";
import { type PlanTerms, toManifestFile } from "./plan.ts";
import type { ShopFiles } from "./shop-files.ts";

/** What earlier imports have written, and the source no longer offers. */
export interface Leftovers {
  /** Manifests whose calls fail from now on. */
  readonly gone: readonly string[];
  /** Manifests that send what one of another name sends now. */
  readonly renamed: readonly { readonly file: string; readonly now: string }[];
  /** Schemas that are used by nothing but these. */
  readonly schemas: readonly string[];
}

/** The manifests of earlier imports that the source no longer offers by their name. */
export function goneFrom({ offered }: Pick<Imported, "offered">, { files, notes }: PlanTerms): readonly string[] {
  const there = new Set(offered.map(toManifestFile));
  const isManifest = (file: string): boolean => file.startsWith("manifests/") && file.endsWith(".yaml");
  return Object.keys(notes?.files ?? {}).filter((file) => isManifest(file) && files.has(file) && !there.has(file));
}

/** @param after the shop's files after the import */
export function findLeftovers(
  imported: Pick<Imported, "offered">,
  terms: PlanTerms,
  { after, services }: { readonly after: ShopFiles; readonly services: readonly ImportedService[] },
): Leftovers {
  const byRequest = Map.groupBy(services, ({ manifest }) => requestOf(manifest));
  const left = goneFrom(imported, terms).map((file) => {
    const request = requestOf(parse(terms.files.get(file) ?? "", { version: "1.2" }));
    const [one, ...others] = (request !== undefined && byRequest.get(request)) || [];
    // Operations of which only an input tells which is meant, as a header's, may be any of these.
    return { file, now: one && others.length === 0 ? toManifestFile(one.manifest.id) : undefined };
  });
  const gone = left.flatMap(({ file, now }) => (now === undefined ? file : []));
  const renamed = left.flatMap(({ file, now }) => (now === undefined ? [] : { file, now }));
  return { gone, renamed, schemas: unusedSchemas(terms, after, gone) };
}

/** The request of a service to an API, with what its query always has: some documents tell operations apart by that alone. */
function requestOf(manifest: unknown): string | undefined {
  const { upstream, request, query } = isObject(manifest) && isObject(manifest.proxy) ? manifest.proxy : {};
  const fixed = Object.entries(isObject(query) ? query : {}).filter(([, text]) => !String(text).includes("{"));
  return request === undefined ? undefined : JSON.stringify([upstream, request, fixed.toSorted()]);
}

/** The schemas of earlier imports that no file names which stays, not even by a word in a text. */
function unusedSchemas({ notes }: PlanTerms, after: ShopFiles, gone: readonly string[]): readonly string[] {
  const noted = new Set(
    Object.keys(notes?.files ?? {}).filter((file) => file.startsWith("schemas/") && after.has(file)),
  );
  const open = [...after.keys()].filter((file) => !noted.has(file) && !gone.includes(file));
  for (let file = open.pop(); file !== undefined; file = open.pop())
    for (const word of new Set(after.get(file)?.match(/[A-Z][A-Za-z0-9]*/g)))
      if (noted.delete(`schemas/${word}.json`)) open.push(`schemas/${word}.json`);
  return [...noted];
}
