import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { atEnd } from "../at-end.ts";
import { INHERITED } from "../inherited.ts";
import type { Asked } from "./process.ts";

const ROOT = join(import.meta.dirname, "../../..");
export const LAUNCHER: string = join(ROOT, "runtime/cli/payphone.js");

/** The output of a command, and its exit code. */
export interface Ran {
  readonly out: string;
  readonly err: string;
  readonly code: number;
}

/** No command that is tested takes so long; a process that has ended answers never. */
const LONGEST_MS = 120_000;

let runner: ChildProcess | undefined;
let last: Promise<unknown> = Promise.resolve();

/** Runs `payphone` with only these environment variables, once the commands before it have ended. */
export function runPayphone(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
  cwd: string = ROOT,
): Promise<Ran> {
  const asked: Asked = { args, cwd, env: { ...INHERITED, NO_COLOR: "1", ...env } };
  const ran = last.then(async () => {
    runner ??= startRunner();
    runner.send(asked);
    const [answer] = await once(runner, "message", { signal: AbortSignal.timeout(LONGEST_MS) });
    return answer as Ran;
  });
  last = ran.catch(() => {});
  return ran;
}

function startRunner(): ChildProcess {
  const started = fork(join(import.meta.dirname, "process.ts"), { env: INHERITED });
  atEnd(() => started.disconnect());
  return started;
}

/** The same, as it is typed in a folder. @returns all that it says, whether as output or as an error */
export async function typePayphone(
  cwd: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: number; readonly said: string }> {
  const { code, out, err } = await runPayphone(args, env, cwd);
  return { code, said: out + err };
}
