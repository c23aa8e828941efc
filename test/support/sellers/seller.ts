import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { TestSandbox } from "../chains/chains.ts";
import { findFreePort } from "../free-port.ts";
import { INHERITED } from "../inherited.ts";
import { untilRailsUp } from "./rails-up.ts";
import { withSoundNote } from "./sound-note.ts";

const ROOT = join(import.meta.dirname, "../../..");
const LAUNCHER = join(ROOT, "runtime/cli/payphone.js");

/** The real `payphone serve` in a child process, paid on the sandbox's chains. */
export interface Seller {
  readonly url: string;
  readonly pid: number;
  readonly dataDir: string;
  /** What it wrote to standard output and standard error. */
  readonly output: () => string;
  /** kill -9. */
  kill(): Promise<void>;
  /** Sends SIGTERM; resolves with the exit code when it has closed in order. */
  stop(): Promise<number | null>;
}

export interface SellerOptions {
  readonly sandbox: Pick<TestSandbox, "env">;
  readonly dataDir: string;
  readonly port?: number;
  /** The public base URL of the first process, when this is a second process of the same shop. */
  readonly baseUrl?: string;
  readonly dir?: string;
  /** Where the command is given. */
  readonly cwd?: string;
  /** Overrides of the environment, e.g. another FACILITATOR_URL. */
  readonly env?: Readonly<Record<string, string>>;
  /** Further arguments of `serve`. */
  readonly args?: readonly string[];
}

/** Starts it and waits until it can be paid. */
export const startSeller = (options: SellerOptions): Promise<Seller> => withSoundNote(options, () => start(options));

async function start({
  sandbox,
  dataDir,
  port,
  baseUrl,
  dir = ROOT,
  cwd,
  env = {},
  args = [],
}: SellerOptions): Promise<Seller> {
  const bound = port ?? (await findFreePort());
  const child = spawn(process.execPath, [LAUNCHER, "serve", "--dir", dir, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    cwd,
    env: {
      ...INHERITED,
      ETHEREUM_RPC_URL: "http://127.0.0.1:9", // Nothing listens there.
      ...sandbox.env,
      PORT: String(bound),
      PAYPHONE_DATA_DIR: dataDir,
      PUBLIC_BASE_URL: baseUrl ?? `http://127.0.0.1:${bound}`,
      LOG_LEVEL: "warn",
      ...env,
    },
  });
  let output = "";
  const gone = once(child, "exit");
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      output += chunk;
    });
  }
  await new Promise<void>((resolve, reject) => {
    createInterface(child.stdout).on("line", (line) => line.startsWith("listening on ") && resolve());
    child.once("exit", (code) => reject(new Error(`the seller ended with code ${code}: ${output}`)));
  });
  const url = `http://127.0.0.1:${bound}`;
  await untilRailsUp(url);
  return {
    url,
    pid: child.pid as number,
    dataDir,
    output: () => output,
    async kill() {
      child.kill("SIGKILL");
      await gone;
    },
    async stop() {
      child.kill("SIGTERM");
      const [code] = (await gone) as [number | null];
      return code;
    },
  };
}
