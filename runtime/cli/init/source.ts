import { readFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import packageJson from "../../../package.json" with { type: "json" };

/** The folder of the package. In an installed payphone, this module is below the package's `dist`. */
const BUILD: string = join(import.meta.dirname, "../../..");
const PACKAGE = basename(BUILD) === "dist" ? dirname(BUILD) : BUILD;
const MODULES = `${sep}node_modules${sep}`;

/**
 * The specifier of the dependency on payphone in a new shop's package.json. It names the source from which this
 * payphone was installed; a file or folder is named relative to the shop.
 */
export function toSource(shop: string, folder: string = PACKAGE): string {
  const toFile = (path: string): string => `file:${relative(shop, path)}`;
  if (!folder.includes(MODULES)) return toFile(folder);
  const home = folder.slice(0, folder.indexOf(MODULES));
  const resolved = readResolved(home, relative(home, folder)) ?? readWanted(home);
  if (resolved === undefined) return toFile(folder); // Installed globally: npm does not note from where.
  if (resolved.startsWith("file:")) return toFile(resolve(home, resolved.slice("file:".length)));
  const isRegistry = !resolved.includes(":") || /^https?:.*\/-\/payphone-[^/]+\.tgz$/.test(resolved);
  return isRegistry ? `^${packageJson.version}` : resolved;
}

/** The source that npm recorded when it installed a package; undefined when another program installed it. */
function readResolved(home: string, path: string): string | undefined {
  try {
    const { packages } = JSON.parse(readFileSync(join(home, "node_modules/.package-lock.json"), "utf8")) as {
      packages: Readonly<Record<string, { readonly resolved?: string } | undefined>>;
    };
    return packages[path]?.resolved;
  } catch {
    return undefined;
  }
}

/** The source or version that a folder's package.json names: yarn and pnpm make no note of another one. */
function readWanted(home: string): string | undefined {
  try {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(home, "package.json"), "utf8")) as {
      readonly [group in "dependencies" | "devDependencies"]?: Readonly<Record<string, string | undefined>>;
    };
    return dependencies?.[packageJson.name] ?? devDependencies?.[packageJson.name];
  } catch {
    return undefined;
  }
}
