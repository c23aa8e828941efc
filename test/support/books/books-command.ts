import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { INHERITED } from "../inherited.ts";

export const LAUNCHER: string = join(import.meta.dirname, "../../../runtime/cli/payphone.js");

/** The output of a command, and its exit code. */
export interface Ran {
  readonly out: string;
  readonly err: string;
  readonly code: number | null;
}

/** Runs `payphone` with only these environment variables. */
export async function runPayphone(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Ran> {
  const child = spawn(process.execPath, [LAUNCHER, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...INHERITED, NO_COLOR: "1", ...env },
  });
  const ended = once(child, "exit") as Promise<[number | null]>;
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await ended;
  return { out, err, code };
}
