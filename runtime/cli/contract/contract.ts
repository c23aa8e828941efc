/** The contract tests of a shop: "payphone/test". */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { isObject } from "../../core/json.ts";
import { once } from "../../core/once.ts";
import type { Manifest } from "../../core/set/manifest.ts";
import { loadEnv } from "../config/config.ts";
import { findShop, toShop } from "../config/shop.ts";
import { toFaultProblem } from "../set/check.ts";
import { loadSet } from "../set/load.ts";
import { watchExit } from "../set/plugins/watch-exit.ts";
import type { ContractExample } from "./example.ts";
import { callService, listExamples, runExample } from "./examples.ts";
import { openWorld, type World } from "./world.ts";

export type { ContractExample } from "./example.ts";

/** A shop under test: its handlers, with recordings in place of all upstreams. */
export interface TestShop {
  readonly examples: readonly ContractExample[];
  /**
   * Calls a service as the server does, without a payment: checks the input, runs the handler, and checks the output.
   * For a job, returns the deliverable.
   * @throws Problem `invalid-input`, `not-found`, whatever the handler throws; `internal` when the output breaks its
   *   schema.
   */
  call(service: string, input: unknown): Promise<Record<string, unknown>>;
  /**
   * Runs an example and compares its output with the one in the manifest. Parts that vary between runs, such as times,
   * signatures and random values, are only checked against the schema.
   * @throws Error with a sentence for each part that differs.
   */
  run(example: ContractExample): Promise<void>;
  close(): Promise<void>;
}

/** The place of a shop under test, and the environment of its plugins. */
export interface TestShopOptions {
  /** Default: the nearest folder, from the current one upwards, that has `manifests/`. */
  readonly dir?: string;
  /** Default: this process's environment, without keys and addresses of the real shop. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** How far ahead the clock of the second world is: one day, hour, minute and second. */
const AHEAD_MS = 90_061_000;

/** Opens a shop for tests. @throws Problem `bad-request` with every fault of the set and its plugins. */
export async function openShop({ dir = findShop(), env = loadEnv() }: TestShopOptions = {}): Promise<TestShop> {
  const set = await loadSet(toShop(dir, "give { dir }"));
  if (set.faults.length > 0) throw toFaultProblem(set.faults);
  const opened: Promise<World>[] = [];
  const open = (aheadMs: number, baseUrl: string) =>
    once((): Promise<World> => {
      const world = openWorld({ set, env, aheadMs, baseUrl });
      opened.push(world);
      return world;
    });
  const here = open(0, "http://127.0.0.1:4021");
  const elsewhere = open(AHEAD_MS, "https://elsewhere.example");
  const callIn = (world: () => Promise<World>) => async (service: string, input: unknown) => {
    using _watch = watchExit();
    return await callService(await world(), service, input);
  };
  using _watch = watchExit();
  await here();
  return {
    examples: listExamples(set.manifests),
    // The schema has checked this.
    call: async (service, input) => (await callIn(here)(service, input)) as Record<string, unknown>,
    run: (example) => runExample(example, { here: callIn(here), elsewhere: callIn(elsewhere) }),
    async close() {
      for (const world of await Promise.allSettled(opened)) if (world.status === "fulfilled") await world.value.close();
    },
  };
}

/** The functions of a test runner: those of mocha, `node:test` or another one. */
export interface TestRunner {
  readonly describe: (title: string, body: () => void) => unknown;
  readonly it: (title: string, body: () => Promise<void>) => unknown;
  readonly before: (body: () => Promise<void>) => unknown;
  readonly after: (body: () => Promise<void>) => unknown;
}

/**
 * Defines one test for each example of each manifest. Uses the global functions of the test runner, as mocha has them,
 * unless others are given: `contractTests({ describe, it, before, after })`.
 * @throws Error when there is no test runner.
 */
export function contractTests(options: Partial<TestRunner> & TestShopOptions = {}): void {
  const { describe, it, before, after } = { ...(globalThis as Partial<TestRunner>), ...options };
  if (!describe || !it || !before || !after)
    throw new Error("contractTests needs a test runner: give it { describe, it, before, after } of node:test");
  const dir = toShop(options.dir ?? findShop(), "give { dir }");
  describe("the examples in manifests/", function (this: unknown) {
    giveTime(this);
    let shop: TestShop;
    before(async () => {
      shop = await openShop({ ...options, dir });
    });
    after(async () => shop?.close());
    // As `openShop` has found; where no manifest can be read, this is the one test.
    it("fit their schemas", async () => {});
    for (const example of readExamples(dir)) it(`has ${example.title} come true`, () => shop.run(example));
  });
}

/** A service has 20 seconds by default, and a shop takes a second to open, or several on a busy machine. */
const LEAST_TIMEOUT_MS = 30_000;

/** Raises the timeout of mocha's suite, which is two seconds by default. Other runners have none to raise. */
function giveTime(suite: unknown): void {
  const { timeout } = (suite ?? {}) as { readonly timeout?: (ms?: number) => unknown };
  const given = typeof timeout === "function" ? Number(timeout.call(suite)) : 0; // 0: without an end.
  if (given > 0) timeout?.call(suite, Math.max(given, LEAST_TIMEOUT_MS));
}

/** Read synchronously, because test runners need the titles at once. `openShop` reports a file that cannot be read. */
function readExamples(dir: string): readonly ContractExample[] {
  const files = readdirSync(join(dir, "manifests")).filter((file) => /^[^_.].*\.yaml$/.test(file));
  return listExamples(files.sort().flatMap((file) => readManifest(join(dir, "manifests", file)) ?? []));
}

/** Undefined for a manifest without examples that can be read. */
function readManifest(file: string): Manifest | undefined {
  try {
    const found: unknown = parse(readFileSync(file, "utf8"));
    const hasExamples = isObject(found) && Array.isArray(found.examples) && found.examples.every(isObject);
    return hasExamples ? (found as unknown as Manifest) : undefined;
  } catch {
    return undefined;
  }
}
