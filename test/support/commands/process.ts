/**
 * Runs commands of `payphone` as its parent asks for them, one after the other in one process: loading takes a short
 * command most of its time.
 */
import { main } from "../../../runtime/cli/main.ts";

/** What the parent asks for. */
export interface Asked {
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment of the command. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

const shown = { out: "", err: "" };
for (const [name, stream] of [
  ["out", process.stdout],
  ["err", process.stderr],
] as const)
  stream.write = (text: string | Uint8Array): boolean => {
    shown[name] += text;
    return true;
  };

process.on("message", async ({ args, cwd, env }: Asked) => {
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  Object.assign(shown, { out: "", err: "" });
  await main(["node", "payphone", ...args]);
  process.send?.({ ...shown, code: process.exitCode ?? 0 });
  process.exitCode = 0;
  process.removeAllListeners("SIGINT").removeAllListeners("SIGTERM");
});
