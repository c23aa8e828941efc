import { Problem } from "../../api/problem.ts";
import { byPlace, type Fault, faultAt, toFaultLine } from "../../core/set/faults.ts";
import { splitHandler } from "../../core/set/plugins.ts";
import { silentLog } from "../../core/silent-log.ts";
import { createSchedule } from "../../drivers/schedule.ts";
import { printable } from "../printable.ts";
import { loadSet, type ManifestSet } from "./load.ts";
import { explain, placeOf } from "./plugins/faults.ts";
import { type Lent, loadPlugins } from "./plugins/load.ts";
import { collectRejections, type LeftRejection } from "./plugins/watch-exit.ts";

/**
 * Finds every fault of manifests, schemas, examples and plugins. Plugins are imported and set up with a host that
 * connects to nothing.
 * @param env the variables that plugins may read; a plugin must work without them.
 */
export async function checkDir(
  dir: string,
  env: Readonly<Record<string, string | undefined>> = {},
): Promise<readonly Fault[]> {
  const set = await loadSet(dir);
  return (await tryPlugins(set, env)).faults;
}

/** The result of trying a set's plugins. */
export interface PluginTrial {
  /** All faults of the set and its plugins, in the report's order. */
  readonly faults: readonly Fault[];
  /** The capabilities that the services take from `Host`, by their names. */
  readonly capabilities: ReadonlySet<string>;
}

/** Sets up a set's plugins with a host that connects to nothing. @param env the variables that plugins may read. */
export async function tryPlugins(
  set: ManifestSet,
  env: Readonly<Record<string, string | undefined>>,
): Promise<PluginTrial> {
  const { value, rejections } = await collectRejections(() => loadPlugins(set, { ...toIdleLent(set), env }));
  const { faults, capabilities } = value;
  const left = rejections.flatMap((rejection) => toRejectionFault(rejection, set) ?? []);
  return { faults: [...set.faults, ...faults, ...left].sort(byPlace), capabilities };
}

/** A rejection's place, or else that of the first manifest that names the plugin. */
function toRejectionFault({ error, plugin }: LeftRejection, set: ManifestSet): Fault | undefined {
  const place = placeOf(error, set.dir);
  const message = `a promise that nothing catches is rejected: ${explain(error, set.dir)}`;
  if (place) return { ...place, code: "plugin-failed", message };
  const user = set.drafts.find(({ data }) => splitHandler(data.handler ?? "").plugin === plugin);
  return user && faultAt(user, ["handler"], "plugin-failed", message);
}

/** One line for each fault, and a last line with their number. */
export function toFaultReport(faults: readonly Fault[]): string {
  if (faults.length === 0) return "no faults";
  const files = new Set(faults.map(({ file }) => file)).size;
  const count = `${faults.length} ${faults.length === 1 ? "fault" : "faults"} in ${files} ${files === 1 ? "file" : "files"}`;
  const mended = faults.length === 1 ? "it is mended" : "they are mended";
  return [...faults.map(toFaultLine).map(printable), `${count}; this set is not sold until ${mended}`].join("\n");
}

/** The error that ends a command because of a set's faults. */
export const toFaultProblem = (faults: readonly Fault[]): Problem => new Problem("bad-request", toFaultReport(faults));

/** A host for checks. The functions that plugins may call during setup work; all others throw. */
export function toIdleLent({ site }: ManifestSet): Omit<Lent, "env"> {
  return {
    host: {
      anchor: idle("anchor"),
      clock: { now: Date.now },
      evm: idle("evm"),
      llm: idle("llm"),
      log: silentLog,
      purchases: idle("purchases"),
      reports: idle("reports"),
      schedule: { every: createSchedule({ log: silentLog }).every }, // Nothing is started.
      site: { name: site.name ?? "payphone", baseUrl: "http://localhost" },
      treasury: idle("treasury"),
      web: idle("web"),
    },
    cacheOf: () => idle("cache"),
    upstreams: new Map((site.upstreams ?? []).map(({ id }) => [id, idle(`upstream("${id}")`)])),
  };
}

/** A capability whose every method throws. */
function idle<Capability extends object>(name: string): Capability {
  const get = (_target: object, method: string | symbol): (() => never) | undefined => {
    // `await` looks for `then`, which is not a call.
    if (typeof method === "symbol" || method === "then") return undefined;
    return () => {
      throw new Error(`${name}.${method}() was called during setup; call it in a handler`);
    };
  };
  return new Proxy({}, { get }) as Capability;
}
