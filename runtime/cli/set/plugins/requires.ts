import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isModuleNamespaceObject } from "node:util/types";
import { importError } from "./packages.ts";

const { cache } = createRequire(import.meta.url);

/** A file that differs from what this process has loaded. */
export interface ChangedFile {
  readonly file: string;
  /** What it imports, as it is written there. */
  readonly specifiers: readonly string[];
  /** The files that it gets otherwise than by an import. */
  readonly requires: readonly string[];
  /** Whether no plugin has used it before. */
  readonly isNew: boolean;
}

/**
 * Makes these files be loaded anew when CommonJS requires them: Node keeps such modules by their paths.
 * @throws when one of them is an ES module that was required, because Node cannot load it anew.
 */
export function forgetModules(changed: readonly ChangedFile[]): void {
  const held = changed.filter(({ file }) => cache[file]);
  if (held.length === 0) return;
  const kept = held.find(
    ({ file, isNew }) => !isNew && isEsModule(file) && changed.some(({ requires }) => requires.includes(file)),
  );
  if (kept) throw importError(KEPT, kept.file, pathToFileURL(kept.file).href);
  for (const { file } of held) {
    if (isEsModule(file)) continue;
    keepRequired(cache[file] as NodeModule);
    delete cache[file];
  }
  for (const { file, specifiers } of changed) for (const specifier of specifiers) forgetRequire(file, specifier);
}

const KEPT =
  "this ES module is loaded with require, for which Node loads it once, and it has changed: restart payphone, or import it";

/** Lets a module that is still sold get what it has required before, also when it requires that during a call. */
function keepRequired(module: NodeModule): void {
  if (!module.children || Object.hasOwn(module, "require")) return; // Imported JSON has no children.
  const children = new Map(module.children.map((child) => [child.filename, child]));
  const load = module.require;
  module.require = (id: string): unknown => {
    const path = join(module.path, id);
    const known = id.startsWith(".") && ENDINGS.map((ending) => children.get(path + ending)).find(Boolean);
    return known ? known.exports : load.call(module, id);
  };
}

/** Endings that CommonJS code may leave out. */
const ENDINGS = ["", ".js", ".json", "/index.js"];

/** A `.cjs` file is none, although its exports may be those of an ES module. */
const isEsModule = (file: string): boolean => !/\.c[jt]s$/.test(file) && isModuleNamespaceObject(cache[file]?.exports);

/** Whether the hook must refuse what is required now. */
export const isForgetting = (): boolean => forgetting;

let forgetting = false;

/**
 * Makes Node forget what was required from a folder: it remembers that without asking the hooks, and would return a module
 * that it has only prepared. It forgets when a look-up fails.
 */
function forgetRequire(importer: string, specifier: string): void {
  forgetting = true;
  try {
    createRequire(importer)(specifier);
  } catch {
    // The hook throws on purpose.
  } finally {
    forgetting = false;
  }
}
