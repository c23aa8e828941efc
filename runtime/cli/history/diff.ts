import { comparableOf } from "../../core/digest.ts";
import type { Manifest, SiteManifest } from "../../core/set/manifest.ts";
import type { ManifestSet } from "../set/load.ts";
import type { Change } from "./change.ts";
import { diffSchemas, type SchemaChange } from "./schema-diff.ts";

export type ComparedSet = Pick<ManifestSet, "site" | "manifests" | "schemas">;

/** The differences between the set that is sold and another one: the shop first, then its services by id. */
export function diffSets(before: ComparedSet, after: ComparedSet): readonly Change[] {
  const [old, now] = [before, after].map(({ manifests }) => new Map(manifests.map((one) => [one.id, one])));
  const ids = [...new Set([...(old as Map<string, Manifest>).keys(), ...(now as Map<string, Manifest>).keys()])].sort();
  return [
    ...diffSites(before.site, after.site),
    ...diffTexts(before, after),
    ...ids.flatMap((id) => diffService(old?.get(id), now?.get(id), before, after)),
  ];
}

function diffService(
  old: Manifest | undefined,
  now: Manifest | undefined,
  before: ComparedSet,
  after: ComparedSet,
): readonly Change[] {
  if (!old && now)
    return [{ kind: "added", service: now.id, isBreaking: false, text: `${now.route}  ${priceOf(now)}` }];
  if (old && !now)
    return [{ kind: "removed", service: old.id, isBreaking: true, text: `${old.route}  ${priceOf(old)}` }];
  if (!old || !now) return [];
  const of = (change: Omit<Change, "service">): Change => ({ ...change, service: now.id });
  return [
    ...diffPrice(old, now).map(of),
    ...diffRoutes(old, now).map(of),
    ...diffBodies(old, now, before, after).map(of),
    ...TERMS.filter((key) => differ(old[key], now[key])).map((key) =>
      of({ kind: "terms", isBreaking: key === "sign_in" || key === "job", text: toStep(key, old[key], now[key]) }),
    ),
    ...SOURCES.filter((key) => differ(old[key], now[key])).map((key) =>
      of({ kind: "sources", isBreaking: false, text: toStep(key, old[key], now[key]) }),
    ),
    ...TEXTS.filter((key) => differ(old[key], now[key])).map((key) =>
      of({ kind: "texts", isBreaking: false, text: `${key} changed` }),
    ),
    ...keysOf(old, now)
      .filter((key) => !COMPARED.has(key))
      .map((key) => of({ kind: "sources", isBreaking: false, text: `${key} changed` })),
  ];
}

const TERMS = ["charge", "free", "sign_in", "job", "deadline_seconds", "body_bytes"] as const;
const SOURCES = ["handler", "needs", "upstreams", "llm"] as const;
const TEXTS = ["title", "description", "tags", "category", "hints", "examples"] as const;
const COMPARED = new Set<string>([...TERMS, ...SOURCES, ...TEXTS, "price", "route", "aliases", "input", "output"]);

function diffPrice({ price: old }: Manifest, { price: now }: Manifest): readonly Omit<Change, "service">[] {
  if (old === now) return [];
  if (old === undefined) return [{ kind: "price", isBreaking: true, text: `free → $${now}` }];
  if (now === undefined) return [{ kind: "price", isBreaking: false, text: `$${old} → free` }];
  const share = ((Number(now) - Number(old)) / Number(old)) * 100;
  const percent = `${share > 0 ? "+" : ""}${Number(share.toFixed(1))} %`;
  return [{ kind: "price", isBreaking: false, text: `$${old} → $${now} (${percent})` }];
}

function diffRoutes(old: Manifest, now: Manifest): readonly Omit<Change, "service">[] {
  const [one, two] = [old, now].map(({ route, aliases = [] }) => [route, ...aliases]) as [string[], string[]];
  return [
    ...one
      .filter((route) => !two.includes(route))
      .map((route) => ({ kind: "route" as const, isBreaking: true, text: `${route} is gone` })),
    ...two
      .filter((route) => !one.includes(route))
      .map((route) => ({ kind: "route" as const, isBreaking: false, text: `${route} is new` })),
  ];
}

/** An input is broken by a narrower schema, an output by a wider one. A removed field breaks both. */
function diffBodies(
  old: Manifest,
  now: Manifest,
  before: ComparedSet,
  after: ComparedSet,
): readonly Omit<Change, "service">[] {
  return (["input", "output"] as const).flatMap((side): readonly Omit<Change, "service">[] => {
    const changes = diffSchemas(
      { schema: old[side], schemas: before.schemas },
      { schema: now[side], schemas: after.schemas },
    );
    if (changes.length === 0 && typeof old[side] === "object" && differ(old[side], now[side]))
      return [{ kind: "texts", isBreaking: false, text: `${side}: texts changed` }];
    return changes.map((change) => {
      const isBreaking = breaks(side, change);
      return { kind: "schema", isBreaking, text: `${side}: ${change.text}${isBreaking ? " (breaking)" : ""}` };
    });
  });
}

/** Schemas with a name of their own that differ in their texts only. */
function diffTexts({ schemas: old }: ComparedSet, { schemas: now }: ComparedSet): readonly Change[] {
  const isOfTexts = (name: string): boolean =>
    now.has(name) &&
    differ(old.get(name), now.get(name)) &&
    diffSchemas({ schema: name, schemas: old }, { schema: name, schemas: now }).length === 0;
  return [...old.keys()].filter(isOfTexts).map((name) => shop("texts", `schema ${name}: texts changed`));
}

function breaks(side: "input" | "output", { way, text }: SchemaChange): boolean {
  if (way === "other") return true;
  if (side === "input") return way === "narrower";
  return way === "wider" && !text.endsWith(" is new");
}

function diffSites(old: SiteManifest, now: SiteManifest): readonly Change[] {
  const [limits, more] = [old.limits, now.limits] as Readonly<Record<string, unknown>>[];
  const names = [...new Set([...Object.keys(limits ?? {}), ...Object.keys(more ?? {})])];
  return [
    ...diffListed("rails", old.rails, now.rails),
    ...diffListed("facilitators", old.facilitators ?? [], now.facilitators ?? []),
    ...names
      .filter((name) => differ(limits?.[name], more?.[name]))
      .map((name) => shop("limits", toStep(name, limits?.[name], more?.[name]))),
    ...keysOf(old, now)
      .filter((key) => !["rails", "facilitators", "limits"].includes(key))
      .map((key) => shop(SITE_TEXTS.has(key) ? "texts" : "terms", `${key} changed`)),
  ];
}

const SITE_TEXTS = new Set(["name", "title", "description", "contact", "version", "catalog_version"]);

/** Compares rails or facilitators by id. A removed rail breaks the buyers who paid on it. */
function diffListed(kind: "rails" | "facilitators", old: readonly Listed[], now: readonly Listed[]): readonly Change[] {
  const nameOf = ({ id, title }: Listed): string => (title === undefined ? `facilitator ${id}` : `${id} (${title})`);
  const ids = [...new Set([...old, ...now].map(({ id }) => id))];
  return ids.flatMap((id): readonly Change[] => {
    const [one, two] = [old, now].map((list) => list.find((listed) => listed.id === id));
    if (!one && two) return [shop("rails", `${nameOf(two)} is new`)];
    if (one && !two) return [{ ...shop("rails", `${nameOf(one)} is gone`), isBreaking: kind === "rails" }];
    if (!one || !two) return [];
    const changed = keysOf(one, two);
    const name = kind === "rails" ? id : nameOf(two);
    return changed.length > 0 ? [shop("rails", `${name}: ${changed.join(", ")} changed`)] : [];
  });
}

interface Listed {
  readonly id: string;
  readonly title?: string;
}

/** The plugin files that differ. How their behaviour differs cannot be told. @param before digests by path. */
export function diffCode(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): readonly Change[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  return names
    .filter((name) => !/^(?:manifests|schemas)\//.test(name) && before.get(name) !== after.get(name))
    .map((name) => shop("code", `${name} ${before.has(name) ? (after.has(name) ? "changed" : "is gone") : "is new"}`));
}

const shop = (kind: Change["kind"], text: string): Change => ({ kind, isBreaking: false, text });

/** The keys whose values differ. */
function keysOf(old: object, now: object): readonly string[] {
  const [one, two] = [old, now] as readonly [Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>];
  return [...new Set([...Object.keys(one), ...Object.keys(two)])].filter((key) => differ(one[key], two[key]));
}

const differ = (one: unknown, two: unknown): boolean => comparableOf(one ?? null) !== comparableOf(two ?? null);

const priceOf = ({ price }: Manifest): string => (price === undefined ? "free" : `$${price}`);

const toStep = (name: string, old: unknown, now: unknown): string => `${name} ${show(old)} → ${show(now)}`;

const show = (value: unknown): string => (value === undefined ? "unset" : JSON.stringify(value));
