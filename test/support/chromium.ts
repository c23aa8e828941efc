import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import packageJson from "../../package.json" with { type: "json" };

/** How to start a Chromium: playwright's options of the same names. */
export interface Chromium {
  readonly executablePath: string;
  readonly env: NodeJS.ProcessEnv;
}

const CACHE = join(import.meta.dirname, "../../node_modules/.cache");
const PACKAGE = "@sparticuz/chromium";
const NAMES = ["chromium", "chromium-browser", "google-chrome"];

/**
 * The Chromium of CHROMIUM_BIN, otherwise the one in the npm package (Linux on x86-64), which is unpacked on first use,
 * otherwise the one on the PATH. The npm package's is headless only, and takes half the processor time of a desktop's.
 * Undefined when there is none.
 */
export function findChromium(): { open(): Promise<Chromium> } | undefined {
  const isInPackage = process.platform === "linux" && process.arch === "x64";
  const executablePath = process.env.CHROMIUM_BIN ?? (isInPackage ? undefined : onPath());
  if (executablePath !== undefined) return { open: async () => ({ executablePath, env: process.env }) };
  return isInPackage ? { open: unpacked } : undefined;
}

function onPath(): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(existsSync);
}

/**
 * The package's Chromium with the libraries that a bare machine lacks. Unpacked once, even when several processes ask
 * at the same time.
 */
async function unpacked(): Promise<Chromium> {
  const home = join(CACHE, `chromium-${packageJson.devDependencies[PACKAGE]}`);
  if (!existsSync(home)) await unpack(home);
  const env = { ...process.env, LD_LIBRARY_PATH: join(home, "al2023/lib"), FONTCONFIG_FILE: join(home, "fonts.conf") };
  return { executablePath: join(home, "chromium"), env };
}

/** The package unpacks into TMPDIR. It unpacks its libraries only when it detects AWS Lambda. */
async function unpack(home: string): Promise<void> {
  await mkdir(CACHE, { recursive: true });
  const folder = await mkdtemp(join(CACHE, "chromium-"));
  const script = `(await import(${JSON.stringify(PACKAGE)})).default.executablePath()`;
  const env = { ...process.env, TMPDIR: folder, AWS_EXECUTION_ENV: "AWS_Lambda_nodejs24.x" };
  const cwd = import.meta.dirname;
  await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script], { cwd, env });
  await writeFile(join(folder, "fonts.conf"), toFontsConf(join(home, "fonts/fonts")));
  await rename(folder, home).catch(() => rm(folder, { recursive: true })); // Another process was faster.
}

/** The package's own file looks for its font in /tmp, and Chromium crashes without a font. */
const toFontsConf = (folder: string): string => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${folder}</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`;
