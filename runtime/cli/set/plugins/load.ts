import { existsSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { AnyHandler, Cache, Host, Plugin, Upstream } from "../../../api/plugin.ts";
import { isObject } from "../../../core/json.ts";
import { toCompiled } from "../../../core/set/compiled-set.ts";
import { didYouMean } from "../../../core/set/did-you-mean.ts";
import type { Draft } from "../../../core/set/draft.ts";
import { byPlace, type Fault, type FaultCode, faultAt } from "../../../core/set/faults.ts";
import type { SiteManifest } from "../../../core/set/manifest.ts";
import { checkHandler, explainPlugin, splitHandler } from "../../../core/set/plugins.ts";
import { within } from "../../../core/time/deadline.ts";
import { createTurns } from "../../../core/time/turns.ts";
import { ANCHOR_RAILS } from "../../config/serve.ts";
import type { ManifestSet } from "../load.ts";
import { explain, placeOf } from "./faults.ts";
import { admitImports } from "./imports.ts";
import { noteFailure, readOnce, versionedUrl } from "./versions.ts";
import { asPlugin, runAsPlugin } from "./watch-exit.ts";

/**
 * What plugins are given. A plugin gets only the variables that its manifests name under `needs`, when they are set,
 * and only the upstreams that they name.
 */
export interface Lent {
  readonly host: Omit<Host, "cache" | "env" | "upstream">;
  readonly cacheOf: (plugin: string) => Cache;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** By id. */
  readonly upstreams: ReadonlyMap<string, Upstream>;
}

/** How long the import and the setup of a plugin may take, each. */
const PATIENCE_MS = 30_000;

/** The handlers of a set, and the faults of its plugins. */
export interface LoadedPlugins {
  /** By `plugin.handler`. */
  readonly handlers: ReadonlyMap<string, AnyHandler>;
  /** The capabilities that handlers and setups have taken from `Host`, by their names. */
  readonly capabilities: ReadonlySet<string>;
  /** In the report's order. */
  readonly faults: readonly Fault[];
}

/**
 * Imports and sets up the plugins that the set's manifests name. Each fault is placed at the `handler` of a manifest. A
 * plugin whose files are unchanged since an earlier import is set up again from the same module.
 */
export async function loadPlugins(set: ManifestSet, lent: Lent): Promise<LoadedPlugins> {
  const users = Map.groupBy(
    set.drafts.filter(({ data }) => data.handler !== undefined),
    ({ data }) => splitHandler(data.handler as string).plugin,
  );
  if (users.size > 0) admitImports(set.dir, set.home);
  const plugins = await readOnce(() =>
    Promise.all([...users].map(([name, drafts]) => loadPlugin(name, drafts, set, lent))),
  );
  return {
    handlers: new Map(plugins.flatMap(({ handlers }) => [...handlers])),
    capabilities: new Set(plugins.flatMap(({ capabilities }) => [...capabilities])),
    faults: plugins.flatMap(({ faults }) => faults).sort(byPlace),
  };
}

/** Loads one plugin. A fault of its setup is reported once, at the first manifest that names the plugin. */
async function loadPlugin(
  name: string,
  drafts: readonly Draft[],
  set: ManifestSet,
  lent: Lent,
): Promise<LoadedPlugins> {
  const fail = (code: FaultCode, complaint: string): LoadedPlugins => ({
    handlers: new Map(),
    capabilities: new Set(),
    faults: [faultAt(drafts[0] as Draft, ["handler"], code, complaint)],
  });
  const files = [`plugins/${name}.ts`, `plugins/${name}/index.ts`].filter((file) =>
    statSync(join(set.dir, file), { throwIfNoEntry: false })?.isFile(),
  );
  const [file, second] = files;
  if (file === undefined) return fail("unknown-plugin", `there is no plugins/${name}.ts${await guess(name, set.dir)}`);
  if (second !== undefined) return fail("plugin-invalid", `${file} and ${second} are both there; keep one of them`);
  try {
    const url = versionedUrl(join(set.dir, file), { root: set.dir, home: set.home });
    const read = (): Promise<{ default?: unknown }> => runAsPlugin(name, () => import(url));
    const module = await inTurn(() => inTime("import", read())).catch((error: unknown) => {
      noteFailure(url);
      throw error;
    });
    const complaint = explainPlugin(module.default, name);
    if (complaint !== undefined) return fail("plugin-invalid", `${file}: ${complaint}`);
    const plugin = module.default as Plugin<unknown>; // `explainPlugin` has checked this.
    const { host, collect } = noteCapabilities(toHost(name, drafts, lent));
    const setup = runAsPlugin(name, () => Promise.resolve(plugin.setup(host)));
    const handlers = await inTime("setup", setup);
    if (!isObject(handlers)) return fail("plugin-invalid", `${file}: its setup returns no handlers`);
    return bind(drafts, handlers, set, collect);
  } catch (error) {
    const place = placeOf(error, set.dir);
    const message = explain(error, set.dir);
    if (!place) return fail("plugin-failed", `${file}: ${message}`);
    return { handlers: new Map(), capabilities: new Set(), faults: [{ ...place, code: "plugin-failed", message }] };
  }
}

/** CommonJS cannot require an ES module that another plugin is still importing. */
const inTurn = createTurns();

/** A plugin that never finishes would stop each start, check and change without a word. */
const inTime = <T>(what: string, work: Promise<T>): Promise<T> =>
  within(PATIENCE_MS, work, () => new Error(`its ${what} has not ended after ${PATIENCE_MS / 1000} seconds`));

/** Reads only the handlers that manifests name. */
function bind(
  drafts: readonly Draft[],
  handlers: Readonly<Record<string, unknown>>,
  set: ManifestSet,
  collect: NotingHost["collect"],
): LoadedPlugins {
  const ofSetup = collect();
  const checked = drafts.map((draft) => {
    const input = set.isKnown ? undefined : toCompiled(draft, set.compile).input;
    const { handler, faults } = checkHandler(draft, handlers, input);
    const taken = new Set([...ofSetup, ...collect()]);
    const name = draft.data.handler as string;
    return {
      name,
      handler: handler && asPlugin(name, handler),
      taken,
      faults: [...faults, ...checkAnchorRail(draft, taken, set.site)],
    };
  });
  return {
    handlers: new Map(checked.flatMap(({ name, handler }) => (handler ? [[name, handler] as const] : []))),
    capabilities: new Set(checked.flatMap(({ taken }) => [...taken])),
    faults: checked.flatMap(({ faults }) => faults),
  };
}

/** The host of one plugin. It inherits from the common host, whose getters open a capability on first use. */
function toHost(name: string, drafts: readonly Draft[], { host, cacheOf, env, upstreams }: Lent): Host {
  const needs = new Set(drafts.flatMap(({ data }) => data.needs ?? []));
  const own = Object.fromEntries([...needs].flatMap((need) => (env[need] === undefined ? [] : [[need, env[need]]])));
  const named = new Set(drafts.flatMap(({ data }) => data.upstreams ?? []));
  const upstream = (id: string): Upstream => {
    const found = named.has(id) ? upstreams.get(id) : undefined;
    if (!found) throw new RangeError(`no manifest of the plugin names "${id}" under upstreams`);
    return found;
  };
  return Object.create(host, {
    cache: { get: () => cacheOf(name), enumerable: true },
    env: { value: Object.freeze(own), enumerable: true },
    upstream: { value: upstream, enumerable: true },
  });
}

/** JavaScript under its own name, which nobody reads, or a plugin with a similar name. */
async function guess(name: string, dir: string): Promise<string> {
  const found = existsSync(join(dir, "plugins")) ? await readdir(join(dir, "plugins")) : [];
  const scripts = SCRIPTS.flatMap((ending) => [`plugins/${name}${ending}`, `plugins/${name}/index${ending}`]);
  const script = scripts.find((file) => existsSync(join(dir, file)));
  if (script !== undefined) return `; ${script} is not read: import it there, or let its name end in .ts`;
  return didYouMean(
    name,
    found.map((entry) => entry.replace(/\.ts$/, "")).filter((other) => other !== name),
  );
}

const SCRIPTS = [".js", ".mjs", ".cjs", ".mts", ".cts", ".tsx"];

/** A host that records which of its capabilities are taken. */
interface NotingHost {
  readonly host: Host;
  /** The capabilities taken since the last call, by their names in `Host`. */
  readonly collect: () => ReadonlySet<string>;
}

function noteCapabilities(host: Host): NotingHost {
  let taken = new Set<string>();
  const noting = new Proxy(host, {
    get(target, name, receiver) {
      taken.add(String(name));
      return Reflect.get(target, name, receiver) as unknown;
    },
  });
  return {
    host: noting,
    collect() {
      const collected = taken;
      taken = new Set();
      return collected;
    },
  };
}

/** The fault of a service that writes anchors although the site lacks a rail for it. */
function checkAnchorRail(draft: Draft, taken: ReadonlySet<string>, { rails = [] }: Partial<SiteManifest>): Fault[] {
  const { base } = ANCHOR_RAILS;
  if (!taken.has("anchor") || rails.some(({ id }) => id === base)) return [];
  const complaint = `it anchors, and anchors are written to the chain of the rail "${base}", which _site.yaml does not list`;
  return [faultAt(draft, ["handler"], "no-anchor-rail", complaint)];
}
