/**
 * `npm run deps`: what each direct dependency costs on this disk, with what it alone brings and with what others need, too;
 * its licence; and who imports it. `--ages` asks the registry when the pinned versions were published.
 * `npm run deps -- --licences` checks the licences of all packages instead.
 */
import { execFile } from "node:child_process";
import { promisify, styleText } from "node:util";
import { importers } from "./importers.ts";
import { licenceFaults, licenceOf } from "./licences.ts";
import { broughtBy, DIRECT, LOCKED, lockedOf, sizeOf } from "./lock.ts";

const KINDS = { dependencies: "", devDependencies: "dev", optionalDependencies: "optional" } as const;
const MEGABYTE = 2 ** 20;
const DAY_MS = 86_400_000;

if (process.argv.includes("--licences")) checkLicences();
else await list();

function checkLicences(): void {
  const faults = licenceFaults();
  for (const fault of faults) console.error(`${fault} is not allowed: see runtime/docs/decisions/licences.md`);
  if (faults.length > 0) process.exitCode = 1;
  else console.log(`${LOCKED.length} packages, all under licences that are allowed`);
}

async function list(): Promise<void> {
  const names = DIRECT.map(({ name }) => name);
  const files = importers();
  const rows = DIRECT.map((direct) => {
    const all = broughtBy([direct.name]);
    const others = broughtBy(names.filter((name) => name !== direct.name));
    return { ...direct, all: toSize(all), alone: toSize([...all].filter((path) => !others.has(path))) };
  });
  console.log("alone: packages   MB  with shared: packages   MB");
  for (const { name, kind, spec, all, alone } of rows.sort((a, b) => b.alone.bytes - a.alone.bytes)) {
    const locked = lockedOf(name);
    const facts = [
      KINDS[kind],
      licenceOf(name, locked),
      await ageOf(spec, name, locked.version),
      toUsers(files.get(name) ?? []),
    ];
    const columns = `${toColumns(alone, 15)}${toColumns(all, 23)}`;
    console.log(`${columns}  ${name} ${locked.version}  ${styleText("dim", facts.filter(Boolean).join(" · "))}`);
  }
  console.log(`${toColumns(toSize(broughtBy(names)), 15)}  in all`);
}

interface Size {
  readonly packages: number;
  readonly bytes: number;
}

/** What of it is installed on this platform. */
function toSize(paths: Iterable<string>): Size {
  const sizes = [...paths].map(sizeOf).filter((bytes) => bytes > 0);
  return { packages: sizes.length, bytes: sizes.reduce((sum, bytes) => sum + bytes, 0) };
}

function toColumns({ packages, bytes }: Size, width: number): string {
  return String(packages).padStart(width) + (bytes / MEGABYTE).toFixed(1).padStart(6);
}

/** Days since the pinned version was published; undefined unless asked for, and for folders of this repository. */
async function ageOf(spec: string, name: string, version = ""): Promise<string | undefined> {
  if (!process.argv.includes("--ages") || spec.startsWith("file:")) return undefined;
  const published = await publishedAt(spec.startsWith("npm:") ? spec.slice(4) : `${name}@${version}`, version);
  return published === undefined ? "age unknown" : `${Math.floor((Date.now() - Date.parse(published)) / DAY_MS)} days`;
}

async function publishedAt(spec: string, version: string): Promise<string | undefined> {
  const { stdout } = await promisify(execFile)("npm", ["view", spec, "time", "--json"], {
    maxBuffer: 2 ** 26,
  });
  return (JSON.parse(stdout || "{}") as Record<string, string>)[version];
}

function toUsers(files: readonly string[]): string {
  const own = files.filter((file) => !file.startsWith("test/"));
  const [first, ...more] = own.length > 0 ? own : files;
  if (first === undefined) return "imported by none";
  return more.length === 0 ? first : `${first} and ${more.length} more`;
}
