import { type ResolveFnOutput, type ResolveHookSync, registerHooks } from "node:module";
import { extname, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { versionedUrl } from "./plugin-versions.ts";

/** The contract beside this module: TypeScript here, JavaScript in the package. */
const CONTRACT = new URL(`../../api/plugin${extname(import.meta.filename)}`, import.meta.url).href;
/** What plugins call it: its name in the package, and payphone's own plugins' short one. */
const CONTRACT_NAMES = ["payphone/plugin", "#plugin"];
const OWN = new URL("../../../package.json", import.meta.url).href;

/** The served directories, as URLs. Module hooks belong to the process, and so does this list. */
const served = new Set<string>();

/**
 * Lets the plugins of a directory import "payphone/plugin" (or "#plugin"), and the packages that payphone brings where the directory has no
 * package of that name.
 */
export function admitImports(dir: string): void {
  if (served.size === 0) registerHooks({ resolve });
  served.add(pathToFileURL(dir + sep).href);
}

const resolve: ResolveHookSync = (specifier, context, next) => {
  if (!isServed(context.parentURL)) return next(specifier, context);
  if (CONTRACT_NAMES.includes(specifier)) return next(CONTRACT, context);
  try {
    return toVersioned(next(specifier, context));
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND";
    if (!isMissing || !isPackage(specifier)) throw error;
    try {
      return next(specifier, { ...context, parentURL: OWN });
    } catch {
      throw error;
    }
  }
};

/** A file of a served directory is a module of its own in each of its versions. */
function toVersioned(resolved: ResolveFnOutput): ResolveFnOutput {
  const { url } = resolved;
  if (!isServed(url) || url.includes("?") || !/\.[cm]?[jt]s$/.test(url)) return resolved;
  return { ...resolved, url: versionedUrl(fileURLToPath(url)) };
}

const isServed = (url = ""): boolean =>
  !url.includes("/node_modules/") && [...served].some((folder) => url.startsWith(folder));

const isPackage = (specifier: string): boolean => !/^(?:\.|\/|#|[a-z]+:)/.test(specifier);
