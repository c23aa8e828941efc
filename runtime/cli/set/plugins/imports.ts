import {
  type LoadHookSync,
  type ResolveFnOutput,
  type ResolveHookContext,
  type ResolveHookSync,
  registerHooks,
} from "node:module";
import { extname, join, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { fileBeside, isModuleName } from "./files.ts";
import { asksFor, importError, isLinked, linkedFolderOf, notePackage, packageOf } from "./packages.ts";
import { isForgetting } from "./requires.ts";
import { formerText, importsLate, versionedUrl, wasRead } from "./versions.ts";
import { refuseExit } from "./watch-exit.ts";

/** The plugin contract beside this module: TypeScript here, JavaScript in the package. */
const CONTRACT = new URL(`../../../api/plugin${extname(import.meta.filename)}`, import.meta.url).href;
const PUBLIC_NAME = "payphone/plugin";
/** The names by which plugins import the contract: its name in the package, and the short one of payphone's own plugins. */
const CONTRACT_NAMES = [PUBLIC_NAME, "#plugin"];
const RUNTIME = new URL("../../../", import.meta.url).href;

/** A directory whose plugins are served. */
interface Served {
  /** As a URL that ends with a slash. */
  readonly url: string;
  readonly dir: string;
  /** The shop's folder: `dir` itself, or the folder that `dir` is a copy of. Packages are resolved from there. */
  readonly home: string;
}

/** Module hooks apply to the whole process, and so does this list. The longest URLs come first. */
let served: readonly Served[] = [];

/**
 * Lets the plugins of a directory import "payphone/plugin" (or "#plugin"), and the packages that the shop depends on.
 * @param home the shop's folder, when `dir` is a copy of it.
 */
export function admitImports(dir: string, home: string): void {
  if (served.length === 0) {
    registerHooks({ resolve });
    refuseExit();
  }
  const url = pathToFileURL(dir + sep).href;
  const entry = { url, dir, home };
  served = [...served.filter((one) => one.url !== url), entry].sort((one, two) => two.url.length - one.url.length);
}

/** Resolves the imports of plugins, and leaves all others to Node. */
const resolve: ResolveHookSync = (specifier, context, next) => {
  if (isForgetting()) throw new Error(specifier);
  const { parentURL: importer = "" } = context;
  if (specifier === PUBLIC_NAME && isOfPackage(importer)) return { url: CONTRACT, shortCircuit: true };
  const shop = findServed(importer);
  if (shop && !isOfProgram(importer, context))
    return resolveFor({ specifier, importer, shop, find: (from) => next(specifier, { ...context, parentURL: from }) });
  if (VERSIONED.test(specifier) && findServed(specifier)) return { url: specifier, shortCircuit: true };
  return next(specifier, context);
};

/** An import in a plugin's module. */
interface PluginImport {
  readonly specifier: string;
  /** The module's URL. */
  readonly importer: string;
  readonly shop: Served;
  /** Node's own resolution, as for a module at this URL. */
  readonly find: (importer: string) => ResolveFnOutput;
}

function resolveFor(wanted: PluginImport): ResolveFnOutput {
  const { specifier, importer } = wanted;
  if (CONTRACT_NAMES.includes(specifier)) return { url: CONTRACT, shortCircuit: true };
  const known = lateImports.get(`${importer} ${specifier}`);
  if (known) return known;
  const beside = RELATIVE.test(specifier) ? fileBeside(fileURLToPath(importer), specifier) : undefined;
  if (beside) return toVersioned(specifier, { url: pathToFileURL(beside).href, shortCircuit: true }, importer);
  return isPackage(specifier) ? resolvePackage(wanted) : resolveFile(wanted);
}

function resolvePackage({ specifier, importer, shop: { home }, find }: PluginImport): ResolveFnOutput {
  const toInstall = (from = packageOf(specifier)): string => `run "npm install ${from}" in ${home}`;
  const found = tryFind(specifier, importer, () => find(pathToFileURL(join(home, "package.json")).href));
  if (!found) throw importError(`the package of "${specifier}" is not installed: ${toInstall()}`, specifier, importer);
  notePackage(specifier, home);
  if (asksFor(specifier, home)) return toVersioned(specifier, found, importer);
  const install = toInstall(linkedFolderOf(specifier, home));
  const complaint = `the package of "${specifier}" is installed for other packages only, and not in the shop's package.json: ${install}`;
  throw importError(complaint, specifier, importer);
}

function resolveFile({ specifier, importer, find }: PluginImport): ResolveFnOutput {
  const found = tryFind(specifier, importer, () => find(importer));
  if (found) return toVersioned(specifier, found, importer);
  const { href: url } = new URL(specifier, importer);
  if (specifier.startsWith(".") && wasRead(fileURLToPath(url), importer))
    return toVersioned(specifier, { url, shortCircuit: true }, importer);
  throw importError(`there is no ${specifier}${guess(specifier, importer)}`, specifier, importer);
}

/** The file that bundlers take for this one: Node needs its whole name. */
function guess(specifier: string, importer: string): string {
  const stem = specifier.replace(/\.[cm]?js$/, "");
  const names = ["", "/index"].flatMap((end) => ["ts", "js", "mjs", "cjs"].map((kind) => `${stem}${end}.${kind}`));
  const name = names.find((one) => one.startsWith(".") && fileBeside(fileURLToPath(importer), one) !== undefined);
  return name === undefined ? "" : `; did you mean ${JSON.stringify(name)}?`;
}

/** Undefined where there is no such file or package. */
function tryFind(specifier: string, importer: string, find: () => ResolveFnOutput): ResolveFnOutput | undefined {
  try {
    return find();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ERR_MODULE_NOT_FOUND" || code === "ERR_UNSUPPORTED_DIR_IMPORT") return undefined;
    if (code !== "ERR_PACKAGE_PATH_NOT_EXPORTED") throw error;
    throw importError(`its package has no "${specifier}"`, specifier, importer);
  }
}

/** The URL of a plugin's file, as `versionedUrl` makes it. */
const VERSIONED = /^file:.*\?v=[0-9a-f]+(?:\.\d+)?$/;

/** A relative path that means the same as a URL. */
const RELATIVE = /^\.{1,2}\/[^?#%]*$/;

/** Whether the importer belongs to the shop's own program, not to a plugin. A CommonJS module has no version in its URL. */
const isOfProgram = (importer: string, { conditions }: ResolveHookContext): boolean =>
  !importer.includes("?v=") && !conditions.includes("require");

/** Gives each version of a file in a served directory a URL of its own, and so a module of its own. */
function toVersioned(specifier: string, resolved: ResolveFnOutput, importer: string): ResolveFnOutput {
  const { url } = resolved;
  const owner = findServed(url);
  if (!owner || url.includes("?") || !isModuleName(url)) return resolved;
  const versioned = versionedUrl(fileURLToPath(url), { root: owner.dir, home: owner.home }, importer);
  if (formerText(versioned) !== undefined) readFormer();
  const output = { ...resolved, url: versioned };
  if (importsLate(importer)) lateImports.set(`${importer} ${specifier}`, { ...output, shortCircuit: true });
  return output;
}

/** Imports that modules make while they run, by importer and specifier: Node resolves them at each call, always to the same. */
const lateImports = new Map<string, ResolveFnOutput>();

let readsFormer = false;

/** Lets modules be read as they were when their plugin was loaded. Most processes never need that. */
function readFormer(): void {
  if (!readsFormer) registerHooks({ load });
  readsFormer = true;
}

const load: LoadHookSync = (url, context, next) => {
  const text = formerText(url);
  if (text === undefined) return next(url, context);
  const format = context.format ?? (/\.m?ts\?/.test(url) ? "module-typescript" : "module"); // Without a package.json.
  return { format, source: Buffer.from(text, "latin1"), shortCircuit: true };
};

/**
 * Excludes payphone's runtime, which payphone's own shop contains. The runtime must exist only once, because two copies
 * of a class are different classes.
 */
const findServed = (url: string): Served | undefined =>
  url.includes("/node_modules/") || url.startsWith(RUNTIME) ? undefined : served.find((one) => url.startsWith(one.url));

/** Whether the importer is in a package of a shop. Another payphone, with classes of its own, may be installed beside it. */
const isOfPackage = (importer: string): boolean =>
  isLinked(importer) ||
  (importer.includes("/node_modules/") &&
    served.some(({ home }) => importer.startsWith(pathToFileURL(join(home, "node_modules", sep)).href)));

const isPackage = (specifier: string): boolean => !/^(?:\.|\/|#|[a-z]+:)/.test(specifier);
