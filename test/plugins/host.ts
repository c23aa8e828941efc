import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect } from "chai";
import { verifyMessage } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { parse } from "yaml";
import { type EvmTransaction, type Hex, type Host, type Plugin, Problem } from "../../runtime/api/plugin.ts";
import { createCompiler } from "../../runtime/core/validator.ts";

const root = join(import.meta.dirname, "../..");

/** The treasury of these tests; its key is nobody's. */
export const TREASURY = privateKeyToAccount(`0x${"7a".repeat(32)}`);
export const NOW = 1_800_000_000_000;

/** A Host in memory: a treasury with a real account, and a Base chain that is a map. */
export function createHost(overrides: Partial<Host> = {}): Host & { readonly chain: Map<string, EvmTransaction> } {
  const chain = new Map<string, EvmTransaction>();
  const log = { info() {}, warn() {}, error() {} };
  return {
    chain,
    anchor: {
      async write(hash) {
        const tx = `0x${String(chain.size + 1).padStart(64, "a")}` as Hex;
        chain.set(tx, toTransaction(tx, `0x${hash}`));
        const base = { tx, explorer_url: `https://explorer.test/${tx}` };
        return {
          base,
          solana: { tx: "s".repeat(88), explorer_url: "https://explorer.test/s" },
          anchored_at: NOW / 1000,
        };
      },
    },
    clock: { now: () => NOW },
    env: {},
    evm: {
      transaction: async (hash) => chain.get(hash),
      verifyMessage: (address, message, signature) => verifyMessage({ address, message, signature }).catch(() => false),
    },
    log,
    site: { name: "payphone", baseUrl: "https://pay.test" },
    treasury: { evmAddress: async () => TREASURY.address, signMessage: (message) => TREASURY.signMessage({ message }) },
    ...overrides,
  };
}

/** A mined transaction of the treasury to itself. */
export const toTransaction = (hash: Hex, input: Hex, status: "success" | "reverted" = "success"): EvmTransaction => ({
  hash,
  from: TREASURY.address,
  to: TREASURY.address,
  input,
  status,
  blockNumber: 41n,
  blockTime: NOW / 1000 + 2,
});

/** One service as the runtime calls it: input schema, rules, work, output schema. */
export type Serve = (input: unknown) => Promise<Record<string, unknown>>;

/** @param id the manifest's. */
export async function serve(id: string, plugin: Plugin<object>, host: Host): Promise<Serve> {
  const manifest = readManifest(id);
  const [, name = ""] = manifest.handler.split(".");
  const handler = ((await plugin.setup(host)) as Record<string, unknown>)[name];
  const { check, run } = handler as { check?(input: unknown): void; run(input: unknown, call: object): unknown };
  const [input, output] = [compile(manifest.input), compile(manifest.output)];
  return async (given) => {
    const { value, issues } = input.check(given, "body");
    if (issues.length > 0) throw new Problem("invalid-input", undefined, { issues });
    check?.(value);
    const call = { id: "1", signal: new AbortController().signal, payer: undefined, network: undefined };
    const answer = JSON.parse(JSON.stringify(await run(value, call)));
    const checked = output.check(answer, "body");
    expect(checked.issues).to.deep.equal([]);
    expect(checked.value, "fields that the schema does not name").to.deep.equal(answer);
    return answer;
  };
}

interface Manifest {
  readonly handler: string;
  readonly input: string;
  readonly output: string;
  readonly examples: readonly { readonly input: unknown; readonly output?: unknown }[];
}

export const readManifest = (id: string): Manifest =>
  parse(readFileSync(join(root, "manifests", `${id}.yaml`), "utf8")) as Manifest;

const compile = createCompiler(
  new Map(
    readdirSync(join(root, "schemas"))
      .filter((name) => /^[A-Z]\w*\.json$/.test(name))
      .map((name) => [basename(name, ".json"), JSON.parse(readFileSync(join(root, "schemas", name), "utf8"))]),
  ),
);

/** The Problem that a promise is rejected with. */
export async function problemOf(work: Promise<unknown>): Promise<Problem> {
  try {
    await work;
  } catch (error) {
    return error instanceof Problem ? error : expect.fail(`not a Problem: ${String(error)}`);
  }
  return expect.fail("nothing was thrown");
}

/** Where and why an input was refused: `body.high: Value error, …`. */
export const faultsOf = async (work: Promise<unknown>): Promise<string[]> => {
  const { code, options } = await problemOf(work);
  expect(code).to.equal("invalid-input");
  return (options.issues ?? []).map(({ loc, msg }) => `${loc.join(".")}: ${msg}`);
};
