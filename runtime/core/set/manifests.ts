import { isObject } from "../json.ts";
import { type Schemas, toRootSchema } from "../schema/subschemas.ts";
import { checkBody } from "./body-checks.ts";
import { didYouMean } from "./did-you-mean.ts";
import { type Draft, isFaulty, type SiteDraft } from "./draft.ts";
import { type Fault, faultAt } from "./faults.ts";
import { checkJob } from "./job-checks.ts";
import type { SiteManifest } from "./manifest.ts";
import { amountOn, isExact, LEAST_PRICE, tiersOf, toAtomic } from "./price.ts";
import { isReserved, overlaps, parametersOf, parseRoute, type Route } from "./route.ts";
import { SETTLE_SECONDS } from "./site.ts";
import { checkRefunds, checkRules } from "./site-services.ts";

/** The files of a set, without their faulty keys. */
export interface Drafts {
  /** Omitted when the file is missing or not YAML. */
  readonly site?: SiteDraft;
  readonly manifests: readonly Draft[];
  readonly schemas: Schemas;
}

/** Checks manifests against their file names, each other, the schemas and the site. */
export function checkManifests({ site, manifests, schemas }: Drafts): Fault[] {
  const ofSite = site ? [...checkRefunds(site, manifests, schemas), ...checkRules(site, manifests, schemas)] : [];
  const byId = firstsOf(manifests, ({ data }) => data.id?.toLowerCase());
  const byPath = firstsOf(manifests, (draft) => routeOf(draft)?.path);
  const open = manifests.filter((draft) => routeOf(draft)?.path.includes("{"));
  const ofEach = manifests.flatMap((draft) => [
    ...checkId(draft, byId),
    ...checkRoute(draft, byPath, open),
    ...checkAliases(draft),
    ...checkSchemas(draft, schemas),
    ...checkParameters(draft, schemas),
    ...checkJob(draft, manifests),
    ...checkCharge(draft),
    ...checkSignIn(draft),
    ...checkBody(draft, schemas, site?.data ?? {}),
    ...(site ? checkPrice(draft, site.data) : []),
    ...(site ? checkDeadline(draft, site.data) : []),
    ...(site && !isFaulty(site, "upstreams") ? checkUpstreams(draft, site.data) : []),
  ]);
  return [...ofSite, ...ofEach];
}

type Firsts = ReadonlyMap<string | undefined, Draft>;

/** The first manifest of each key. */
const firstsOf = (all: readonly Draft[], keyOf: (draft: Draft) => string | undefined): Firsts =>
  new Map(all.toReversed().map((draft) => [keyOf(draft), draft]));

/** Work that leaves traces must be paid first: its effect would remain even if the settlement failed afterwards. */
function checkCharge(draft: Draft): Fault[] {
  const { charge, price, hints, job } = draft.data;
  const fail = (key: "charge" | "hints", complaint: string): Fault[] => [
    faultAt(draft, [key], "bad-charge", complaint),
  ];
  if (isFaulty(draft, "price") || isFaulty(draft, "charge")) return [];
  if (charge && price === undefined)
    return fail("charge", "a free service charges nobody: leave it out, or name a price");
  if (charge && job) return fail("charge", "a job is always paid first: leave it out");
  if (hints?.readOnly !== false || charge === "first" || price === undefined || job) return [];
  return fail(
    charge ? "charge" : "hints",
    "a service with `readOnly: false` leaves traces: it must say `charge: first`",
  );
}

/** `sign_in` excludes a price and jobs; `free` needs a price, and excludes jobs and `charge: first`. */
function checkSignIn(draft: Draft): Fault[] {
  const { free, sign_in: needsSignIn, price, charge, job } = draft.data;
  const fail = (key: "free" | "sign_in", complaint: string): Fault[] => [
    faultAt(draft, [key], "bad-sign-in", complaint),
  ];
  if (needsSignIn && price !== undefined)
    return fail("sign_in", "a service with a price is paid for: leave one of them out");
  if (needsSignIn && job) return fail("sign_in", "a job's status is told to everybody who knows its id: leave it out");
  if (!free || isFaulty(draft, "price")) return [];
  if (price === undefined) return fail("free", "a service without a price is free for everybody: leave it out");
  if (job) return fail("free", "jobs are always paid for: leave it out");
  return charge === "first"
    ? fail("free", "a service with `charge: first` costs its seller on each run: leave it out")
    : [];
}

function checkId(draft: Draft, byId: Firsts): Fault[] {
  const { id } = draft.data;
  if (id === undefined) return [];
  const name = draft.file.replace(/^.*\/|\.yaml$/g, "");
  if (id !== name)
    return [faultAt(draft, ["id"], "id-not-file-name", `must be ${JSON.stringify(name)}, as its file is called`)];
  const first = byId.get(id.toLowerCase());
  if (!first || first.data.id === id) return []; // Of two with one id, the file with another name is at fault.
  return [faultAt(draft, ["id"], "duplicate-id", `${first.file} has the same id but for capitals`)];
}

/** @param open the manifests whose paths have parameters: only these share requests with another path. */
function checkRoute(draft: Draft, byPath: Firsts, open: readonly Draft[]): Fault[] {
  const route = routeOf(draft);
  if (!route) return [];
  if (isReserved(route.path))
    return [faultAt(draft, ["route"], "reserved-path", "payphone answers such a path itself")];
  const met = open.find((other) => overlaps(routeOf(other)?.path ?? "", route.path));
  const first = [byPath.get(route.path), met].find((other) => other !== draft && other !== undefined);
  if (!first) return [];
  const complaint = `a request for it could also be meant for ${first.file}; a path belongs to one service`;
  return [faultAt(draft, ["route"], "duplicate-route", complaint)];
}

function checkAliases(draft: Draft): Fault[] {
  const route = routeOf(draft);
  if (!route) return [];
  const methods: string[] = [route.method];
  return (draft.data.aliases ?? []).flatMap((text, at) => {
    const alias = parseRoute(text);
    const place = ["aliases", at];
    if (alias.path !== route.path)
      return [faultAt(draft, place, "alias-path-differs", `must have the path of the route, "${route.path}"`)];
    if (methods.includes(alias.method))
      return [faultAt(draft, place, "duplicate-route", `the service answers ${alias.method} there already`)];
    methods.push(alias.method);
    return [];
  });
}

function checkSchemas(draft: Draft, schemas: Schemas): Fault[] {
  return (["input", "output"] as const).flatMap((key) => {
    const schema = draft.data[key];
    if (typeof schema === "string" && !schemas.names.has(schema)) {
      const complaint = `there is no schemas/${schema}.json${didYouMean(schema, schemas.names)}`;
      return [faultAt(draft, [key], "unknown-schema", complaint)];
    }
    const root = toRootSchema(schema, schemas);
    if (!root || root.type === "object") return [];
    return [faultAt(draft, [key], "not-an-object", 'the schema must say "type: object"')];
  });
}

function checkParameters(draft: Draft, schemas: Schemas): Fault[] {
  const root = toRootSchema(draft.data.input, schemas);
  if (!root) return [];
  const fields = isObject(root.properties) ? root.properties : {};
  const isPosted = [draft.data.route, ...(draft.data.aliases ?? [])].some((route) => route?.startsWith("POST "));
  return parametersOf(routeOf(draft)?.path ?? "").flatMap((name) => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) {
      const complaint = `the input has no field "${name}"${didYouMean(name, Object.keys(fields))}`;
      return [faultAt(draft, ["route"], "unknown-parameter", complaint)];
    }
    const isText = !isObject(field) || field.type === undefined || [field.type].flat().includes("string");
    if (isText || !isPosted) return [];
    return [faultAt(draft, ["route"], "parameter-not-text", `"${name}" must be text where the route is POST`)];
  });
}

function checkPrice(draft: Draft, site: Partial<SiteManifest>): Fault[] {
  const { rails } = site;
  const { price } = draft.data;
  if (price === undefined) return [];
  if (toAtomic(price, 18) < toAtomic(LEAST_PRICE, 18))
    return [faultAt(draft, ["price"], "price-too-low", `facilitators settle no less than ${LEAST_PRICE}`)];
  // A currency without tiers is a fault of its own.
  if (!rails || rails.some(({ currency }) => currency !== "usd" && !tiersOf(site, currency))) return [];
  const fine = rails.filter(({ currency, decimals }) => currency === "usd" && !isExact(price, decimals));
  if (fine.length > 0)
    return fine.map(({ title, decimals }) =>
      faultAt(draft, ["price"], "price-too-fine", `${title} has ${decimals} decimals and cannot hold it`),
    );
  if (rails.some((rail) => amountOn({ ...rail, decimals: 18 }, price, site) !== undefined)) return [];
  const complaint = "no rail of _site.yaml can be paid with it: none counts dollars, and no currency has a tier for it";
  return [faultAt(draft, ["price"], "no-rail", complaint)];
}

function checkDeadline(draft: Draft, { limits }: Partial<SiteManifest>): Fault[] {
  const { price, deadline_seconds } = draft.data;
  if (price === undefined || deadline_seconds === undefined || !limits) return [];
  const most = limits.offer_seconds - SETTLE_SECONDS;
  if (deadline_seconds <= most) return [];
  const complaint = `must be at most ${most}: offers may be paid for ${limits.offer_seconds} seconds, and settling takes up to ${SETTLE_SECONDS}`;
  return [faultAt(draft, ["deadline_seconds"], "deadline-too-long", complaint)];
}

function checkUpstreams(draft: Draft, { upstreams = [] }: Partial<SiteManifest>): Fault[] {
  const known = upstreams.map(({ id }) => id);
  return (draft.data.upstreams ?? []).flatMap((id, at) => {
    if (known.includes(id)) return [];
    const complaint = `_site.yaml lists no upstream "${id}"${didYouMean(id, known)}`;
    return [faultAt(draft, ["upstreams", at], "unknown-upstream", complaint)];
  });
}

function routeOf({ data: { route } }: Draft): Route | undefined {
  return route === undefined ? undefined : parseRoute(route);
}
