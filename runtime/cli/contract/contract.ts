/** The contract tests of a shop: "payphone/test". */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { once } from "../../core/once.ts";
import type { Manifest } from "../../core/set/manifest.ts";
import { loadEnv } from "../config/config.ts";
import { findShop, toShop } from "../config/shop.ts";
import { toFaultProblem } from "../set/check.ts";
import { loadSet } from "../set/load.ts";
import { type ContractExample, callService, listExamples, runExample } from "./examples.ts";
import { openWorld, type World } from "./world.ts";

export type { ContractExample } from "./examples.ts";

/** A shop under test: its handlers, with recordings in the place of all sources. */
export interface TestShop {
  readonly examples: readonly ContractExample[];
  /**
   * Calls a service as the server does, without a payment: the input is checked, and the output held to its schema. Of a
   * job it is the deliverable.
   * @throws Problem `invalid-input`, `not-found`, whatever the handler throws; `internal` when the output breaks its schema.
   */
  call(service: string, input: unknown): Promise<Record<string, unknown>>;
  /**
   * Runs an example and compares its output with the one that the manifest shows. What differs from run to run, such as
   * times, signatures and chance, is held to the schema alone.
   * @throws Error with a sentence for each part that differs.
   */
  run(example: ContractExample): Promise<void>;
  close(): Promise<void>;
}

/** Where a shop under test is, and what its plugins are lent. */
export interface TestShopOptions {
  /** Default: the nearest folder, from the current one upwards, that has `manifests/`. */
  readonly dir?: string;
  /** Default: this process's environment. Keys and addresses of the real shop are left out. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** How far ahead the clock of the second world is: another day, hour, minute and second. */
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
  const callIn = (world: () => Promise<World>) => async (service: string, input: unknown) =>
    callService(await world(), service, input);
  await here();
  return {
    examples: listExamples(set.manifests),
    call: async (service, input) => (await callIn(here)(service, input)) as Record<string, unknown>, // By its schema.
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
 * One test for each example of each manifest. The runner's functions are the global ones, as in mocha, unless given:
 * `contractTests({ describe, it, before, after })`.
 * @throws Error when there is no test runner.
 */
export function contractTests(options: Partial<TestRunner> & TestShopOptions = {}): void {
  const { describe, it, before, after } = { ...(globalThis as Partial<TestRunner>), ...options };
  if (!describe || !it || !before || !after)
    throw new Error("contractTests needs a test runner: give it { describe, it, before, after } of node:test");
  const dir = toShop(options.dir ?? findShop(), "give { dir }");
  describe("the examples in manifests/", () => {
    let shop: TestShop;
    before(async () => {
      shop = await openShop({ ...options, dir });
    });
    after(async () => shop?.close());
    it("fit their schemas", async () => {}); // As `openShop` has found; where no manifest can be read, this is the one test.
    for (const example of readExamples(dir)) it(`has ${example.title} come true`, () => shop.run(example));
  });
}

/** Test runners want the titles at once. A file that cannot be read is a fault that `openShop` reports. */
function readExamples(dir: string): readonly ContractExample[] {
  const files = readdirSync(join(dir, "manifests")).filter((file) => /^[^_.].*\.yaml$/.test(file));
  return listExamples(files.sort().flatMap((file) => readManifest(join(dir, "manifests", file)) ?? []));
}

function readManifest(file: string): Manifest | undefined {
  try {
    return parse(readFileSync(file, "utf8")) as Manifest;
  } catch {
    return undefined;
  }
}
