import { LOCKED } from "./lock.ts";

/** Licences that ask for a notice at most (SPDX). */
const ALLOWED = new Set([
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "CC0-1.0",
  "ISC",
  "MIT",
  "PSF-2.0",
  "Python-2.0",
  "Unlicense",
  "Zlib",
]);

/** Packages whose package.json names no licence; their licence files do. */
const UNNAMED: Readonly<Record<string, string>> = {
  "eyes@0.1.8": "MIT",
  "text-encoding-utf-8@1.0.2": "Unlicense",
};

/** A package's licence (SPDX), or an empty text. */
export const licenceOf = (name: string, { version, license }: { version?: string; license?: string }): string =>
  license ?? UNNAMED[`${name}@${version}`] ?? "";

/** One line for each package, of any platform, whose licence is not allowed. */
export function licenceFaults(): string[] {
  return LOCKED.map((locked) => ({ ...locked, licence: licenceOf(locked.name, locked) }))
    .filter(({ licence }) => !isAllowed(licence))
    .map(({ path, version, licence }) => `${path} ${version}: ${licence || "no licence"}`);
}

/** Of alternatives one is enough; of what holds together, all are needed. */
function isAllowed(expression: string): boolean {
  const alternatives = expression.replace(/[()]/g, "").split(" OR ");
  return alternatives.some((one) => one.split(" AND ").every((licence) => ALLOWED.has(licence)));
}
