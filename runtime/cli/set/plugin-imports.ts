import {
  type LoadHookSync,
  type ResolveFnOutput,
  type ResolveHookContext,
  type ResolveHookSync,
  registerHooks,
} from "node:module";
import { extname, join, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { fileBeside } from "./plugin-files.ts";
import { asksFor, importError, notePackage, packageOf } from "./plugin-packages.ts";
import { isForgetting } from "./plugin-requires.ts";
import { formerText, importsLate, versionedUrl, wasRead } from "./plugin-versions.ts";
import { refuseExit } from "./watch-exit.ts";

/** The plugin contract beside this module: TypeScript here, JavaScript in the package. */
const CONTRACT = new URL(`../../api/plugin${extname(import.meta.filename)}`, import.meta.url).href;
/**
 * The names by which plugins import the contract: its name in the package, and the short name in payphone's own
 * plugins.
 */
const PUBLIC_NAME = "payphone/plugin";
const CONTRACT_NAMES = [PUBLIC_NAME, "#plugin"];
const RUNTIME = new URL("../../", import.meta.url).href;

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

const resolve: ResolveHookSync = (specifier, context, next) => {
  if (isForgetting()) throw new Error(specifier);
  const { parentURL = "" } = context;
  if (specifier === PUBLIC_NAME && isOfPackage(parentURL)) return { url: CONTRACT, shortCircuit: true };
  const parent = findServed(parentURL);
  if (!parent || isOfProgram(parentURL, context))
    return VERSIONED.test(specifier) && findServed(specifier)
      ? { url: specifier, shortCircuit: true }
      : next(specifier, context);
  if (CONTRACT_NAMES.includes(specifier)) return { url: CONTRACT, shortCircuit: true };
  const known = lateImports.get(`${parentURL} ${specifier}`);
  if (known) return known;
  const beside = RELATIVE.test(specifier) ? fileBeside(fileURLToPath(parentURL), specifier) : undefined;
  if (beside) return toVersioned(specifier, { url: pathToFileURL(beside).href, shortCircuit: true }, parentURL);
  const isForeign = isPackage(specifier);
  const install = `run "npm install ${packageOf(specifier)}" in ${parent.home}`;
  try {
    const found = next(specifier, isForeign ? { ...context, parentURL: toParent(parent) } : context);
    if (isForeign) notePackage(specifier, parent.home);
    if (!isForeign || asksFor(specifier, parent.home)) return toVersioned(specifier, found, parentURL);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ERR_PACKAGE_PATH_NOT_EXPORTED")
      throw importError(`its package has no "${specifier}"`, specifier, parentURL);
    if (code !== "ERR_MODULE_NOT_FOUND") throw error;
    const { href: url } = new URL(specifier, parentURL);
    if (specifier.startsWith(".") && wasRead(fileURLToPath(url), parentURL))
      return toVersioned(specifier, { url, shortCircuit: true }, parentURL);
    const complaint = isForeign
      ? `the package of "${specifier}" is not installed: ${install}`
      : `there is no ${specifier}`;
    throw importError(complaint, specifier, parentURL);
  }
  const complaint = `the package of "${specifier}" is installed for other packages only, and not in the shop's package.json: ${install}`;
  throw importError(complaint, specifier, parentURL);
};

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
  if (!owner || url.includes("?") || !/\.(?:[cm]?[jt]s|json)$/.test(url)) return resolved;
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
const findServed = (url = ""): Served | undefined =>
  url.includes("/node_modules/") || url.startsWith(RUNTIME) ? undefined : served.find((one) => url.startsWith(one.url));

/** Whether the importer is in a package of a shop. Another payphone, with classes of its own, may be installed beside it. */
const isOfPackage = (importer: string): boolean =>
  importer.includes("/node_modules/") &&
  served.some(({ home }) => importer.startsWith(pathToFileURL(join(home, "node_modules", sep)).href));

const toParent = ({ home }: Served): string => pathToFileURL(join(home, "package.json")).href;

const isPackage = (specifier: string): boolean => !/^(?:\.|\/|#|[a-z]+:)/.test(specifier);
