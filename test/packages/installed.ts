import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import packageJson from "../../package.json" with { type: "json" };

const ROOT = join(import.meta.dirname, "../..");

/** How a command ended. */
export interface Ended {
  readonly code: number;
  /** What it printed, errors included. */
  readonly said: string;
}

/** A shop that `payphone init` has made in an empty folder, with the packed payphone installed by npm. */
export interface InstalledShop {
  /** The shop's folder. */
  readonly dir: string;
  /** The files of the package, by their paths in it. */
  readonly files: readonly string[];
  /**
   * Types a command in the shop's folder, or in another one. In the shop's own, the program is started that `npx` would
   * start, which takes npx half a second to find, and the script that `npm run` would run.
   */
  type(command: string, options?: { readonly cwd?: string; readonly env?: Env }): Promise<Ended>;
  /** Starts a command that listens, as `type` does. @throws Error with what it printed when it ends instead. */
  start(command: string, env: Env): Promise<Started>;
  /** The environment of these commands. */
  readonly env: Env;
  remove(): void;
}

type Env = Readonly<Record<string, string | undefined>>;

/** What leads to the registry. */
const NETWORK = /^(NODE_EXTRA_CA_CERTS|npm_config_(cafile|cache|registry|(https_|no)?proxy))$/i;

/** An environment as in a fresh terminal: nothing of the npm that runs this, no colours, and this Node first. */
const TERMINAL: Env = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => NETWORK.test(name) || !/^(npm_|NODE_|PAYPHONE|FORCE_COLOR)/i.test(name),
    ),
  ),
  PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
  NO_COLOR: "1",
};

/** Runs a command of a shell to its end. */
export function runIn(cwd: string, command: string, env: Env = {}): Promise<Ended> {
  const options = { cwd, env: { ...TERMINAL, ...env }, maxBuffer: 2 ** 26, shell: "/bin/sh" };
  return new Promise((resolve) => {
    execFile(command, options, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === "number" ? error.code : error ? -1 : 0, said: stdout + stderr });
    });
  });
}

/** Whether an installation has failed because the registry cannot be reached. */
export const isUnreachable = ({ code, said }: Ended): boolean =>
  code !== 0 && /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH)\b/.test(said);

/**
 * Packs payphone, makes a shop with the unpacked package, and installs the shop's packages, payphone's among them, from the
 * registry and npm's cache. It is the one real installation; undefined when the registry cannot be reached.
 */
export async function installShop(): Promise<InstalledShop | undefined> {
  const home = mkdtempSync(join(tmpdir(), "payphone-package-"));
  const remove = (): void => rmSync(home, { recursive: true, force: true });
  const own = join(home, "node_modules/payphone");
  // By default, Node would keep what it has compiled of this shop when the shop is gone.
  const env = { ...TERMINAL, NODE_COMPILE_CACHE: join(home, "compiled") };
  const run = async (cwd: string, command: string): Promise<Ended> => {
    const ended = await runIn(cwd, command, env);
    if (ended.code !== 0) throw new Error(`${command} failed: ${ended.said}`);
    return ended;
  };
  await run(ROOT, `npm pack --silent --pack-destination ${home}`);
  const tarball = `payphone-${packageJson.version}.tgz`;
  mkdirSync(own, { recursive: true });
  await run(home, `tar xzf ${tarball} --strip-components=1 -C ${own}`);
  const files = readdirSync(own, { recursive: true, encoding: "utf8" });
  symlinkSync(join(ROOT, "node_modules"), join(own, "node_modules")); // Enough for `init`.
  const note = { packages: { "node_modules/payphone": { resolved: `file:${tarball}` } } };
  writeFileSync(join(home, "node_modules/.package-lock.json"), JSON.stringify(note));
  await run(home, `node ${own}/runtime/cli/payphone.js init my-shop --owner "Ada Lovelace" </dev/null`);
  const dir = join(home, "my-shop");
  const installed = await runIn(dir, "npm install --prefer-offline --no-audit --no-fund", env);
  if (isUnreachable(installed)) {
    remove();
    return undefined;
  }
  if (installed.code !== 0) {
    remove();
    throw new Error(installed.said);
  }
  const inside = { ...env, PATH: [join(dir, "node_modules/.bin"), TERMINAL.PATH].join(delimiter) };
  const { scripts } = JSON.parse(readFileSync(join(dir, "package.json"), "utf8"));
  const toProgram = (command: string): string =>
    command.replace(/^npx /, "").replace(/^npm run (\S+)/, (_, script) => scripts[script]);
  const type: InstalledShop["type"] = (command, { cwd, env: more } = {}) =>
    cwd === undefined
      ? runIn(dir, toProgram(command), { ...inside, ...more })
      : runIn(cwd, command, { ...env, ...more });
  const start: InstalledShop["start"] = (command, more) => startIn(dir, toProgram(command), { ...inside, ...more });
  return { dir, files, type, start, env: inside, remove };
}

/** A server that a command has started. */
export interface Started {
  readonly url: string;
  /** What it printed until it listened. */
  readonly said: string;
  stop(): Promise<void>;
}

async function startIn(cwd: string, command: string, env: Env): Promise<Started> {
  const child = spawn(command, { cwd, env, shell: "/bin/sh", detached: true });
  const gone = once(child, "exit");
  let said = "";
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  for (const stream of [child.stdout, child.stderr])
    createInterface(stream).on("line", (line) => {
      said += `${line}\n`;
      const url = /^listening on (\S+)$/.exec(line)?.[1];
      if (url) resolve(url);
    });
  child.once("exit", (code) => reject(new Error(`it ended with code ${code}: ${said}`)));
  const url = await promise;
  return {
    url,
    said,
    async stop() {
      endGroup(child);
      await gone;
    },
  };
}

/** npm and the server that it has started. */
const endGroup = ({ pid }: ChildProcess): void => void process.kill(-pid!, "SIGTERM");

/** A package as the lock file of an installation names it. */
interface Locked {
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly devOptional?: boolean;
  readonly license?: string;
}

/** What is installed in a folder, by path in it: with `--omit=dev --omit=optional`, or else everything. */
export function packagesIn(dir: string, isProduction: boolean): ReadonlyMap<string, Locked> {
  const lock = JSON.parse(readFileSync(join(dir, "package-lock.json"), "utf8")) as { packages: Record<string, Locked> };
  const wanted = Object.entries(lock.packages).filter(
    ([path, { dev, optional, devOptional }]) =>
      path !== "" && existsSync(join(dir, path)) && !(isProduction && (dev || optional || devOptional)),
  );
  return new Map(wanted);
}

/** Bytes on disk of a package, without those below it. */
export function bytesOf(folder: string): number {
  return readdirSync(folder).reduce((bytes, name) => {
    const path = join(folder, name);
    const entry = lstatSync(path);
    if (name === "node_modules") return bytes;
    return bytes + entry.blocks * 512 + (entry.isDirectory() ? bytesOf(path) : 0);
  }, 0);
}
