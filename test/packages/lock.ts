import { existsSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import root from "../../package.json" with { type: "json" };
import lock from "../../package-lock.json" with { type: "json" };
import services from "../../plugins/packages/package.json" with { type: "json" };

const ROOT = join(import.meta.dirname, "../..");

type Kind = "dependencies" | "devDependencies" | "optionalDependencies";
type Names = Readonly<Record<string, string>>;

/** A package of the lock file. */
interface Locked {
  readonly version?: string;
  readonly license?: string;
  /** A folder of this repository instead of a package of the registry. */
  readonly link?: boolean;
  readonly resolved?: string;
  readonly dependencies?: Names;
  readonly optionalDependencies?: Names;
  readonly peerDependencies?: Names;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** What package.json asks for, and what the repository's own services do. */
export interface Direct {
  readonly name: string;
  readonly kind: Kind;
  /** The version, `npm:` with another name's, or `file:` with a folder of this repository. */
  readonly spec: string;
}

const PACKAGES = lock.packages as unknown as Readonly<Record<string, Locked>>; // JSON's type knows each key alone.
const KINDS: readonly Kind[] = ["dependencies", "devDependencies", "optionalDependencies"];

export const DIRECT: readonly Direct[] = KINDS.flatMap((kind) =>
  Object.entries<string>({ ...root[kind], ...(services as Partial<Record<Kind, Names>>)[kind] }).map(
    ([name, spec]) => ({ name, kind, spec }),
  ),
);

/** The paths of all packages, those of other platforms included, each with its name and what the lock says of it. */
export const LOCKED: readonly (Locked & { readonly path: string; readonly name: string })[] = Object.entries(PACKAGES)
  .filter(([path, { link }]) => path !== "" && !link)
  .map(([path, locked]) => ({ ...locked, path, name: path.split("node_modules/").at(-1) ?? path }));

/** The entry of a direct dependency. */
export const lockedOf = (name: string): Locked => PACKAGES[toPath(name, "") ?? ""] ?? {};

/** The paths of the packages that these direct dependencies bring, themselves included. */
export function broughtBy(names: readonly string[]): Set<string> {
  const found = new Set<string>();
  const visit = (name: string, from: string): void => {
    const path = toPath(name, from);
    if (path === undefined || found.has(path)) return;
    found.add(path);
    for (const needed of neededBy(PACKAGES[path] ?? {})) visit(needed, path);
  };
  for (const name of names) visit(name, "");
  return found;
}

function neededBy({ dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta }: Locked): string[] {
  const peers = Object.keys(peerDependencies ?? {}).filter((name) => !peerDependenciesMeta?.[name]?.optional);
  return [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers];
}

/** Where a package finds another one: below itself, or below what it lies in. */
function toPath(name: string, from: string): string | undefined {
  const path = `${from}${from && "/"}node_modules/${name}`;
  const locked = PACKAGES[path];
  if (locked) return locked.link ? locked.resolved : path;
  return from === "" ? undefined : toPath(name, from.slice(0, Math.max(0, from.lastIndexOf("node_modules/") - 1)));
}

/** Bytes on disk of a package, without those below it; 0 for one of another platform. */
export function sizeOf(path: string): number {
  const folder = join(ROOT, path);
  return existsSync(folder) ? sizeOfFolder(folder) : 0;
}

function sizeOfFolder(folder: string): number {
  let bytes = 0;
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const entry = lstatSync(path);
    if (name !== "node_modules") bytes += entry.blocks * 512 + (entry.isDirectory() ? sizeOfFolder(path) : 0);
  }
  return bytes;
}
