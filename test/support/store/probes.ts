import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import type { OpenStore } from "../../../runtime/drivers/store/keyv.ts";
import type { StoreOptions } from "../../../runtime/drivers/store/open-store.ts";

const CHILD = join(import.meta.dirname, "child.ts");

/** Starts test/support/store/child.ts on the store. @param shell a command that starts the child's command */
export function startChild(
  options: StoreOptions,
  work: readonly string[],
  shell: readonly string[] = [],
): ChildProcess {
  const [command = "", ...args] = [...shell, process.execPath, CHILD, JSON.stringify(options), ...work];
  return spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
}

/** All keys with a prefix, sorted. */
export async function listKeys(store: OpenStore, prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const key of store.keys(prefix)) keys.push(key);
  return keys.sort();
}

/** The error of an unreachable store. */
export async function expectUnavailable(work: Promise<unknown>): Promise<Problem> {
  const found = await work.then(
    (value) => expect.fail(`answered ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
  expect(found).to.be.instanceOf(Problem);
  expect((found as Problem).code).to.equal("unavailable");
  return found as Problem;
}
