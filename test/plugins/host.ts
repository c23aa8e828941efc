import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { verifyMessage } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { parse } from "yaml";
import {
  type Call,
  type EvmTransaction,
  type Hex,
  type Host,
  type Plugin,
  Problem,
  type ReportFile,
} from "../../runtime/api/plugin.ts";
import { createReportPublisher } from "../../runtime/cli/serve/reports.ts";
import { createCompiler } from "../../runtime/core/schema/validator.ts";
import type { SiteManifest } from "../../runtime/core/set/manifest.ts";
import { silentLog } from "../../runtime/core/silent-log.ts";
import { createGuardedFetch } from "../../runtime/drivers/http/guarded-fetch.ts";
import { createCache } from "../../runtime/drivers/store/cache.ts";
import { createPace, type Pause } from "../../runtime/drivers/upstream/pace.ts";
import { createHttpTransport, type Transport } from "../../runtime/drivers/upstream/transport.ts";
import { createUpstream } from "../../runtime/drivers/upstream/upstream.ts";
import { OWN_SCHEMAS } from "../support/own-schemas.ts";
import { toCall } from "../support/sellers/call.ts";
import { createMemoryStore } from "../support/store/memory-store.ts";
import { problemOf } from "../support/thrown.ts";

export { problemOf };

const root = join(import.meta.dirname, "../..");

/** The treasury of these tests; its key is nobody's. */
export const TREASURY = privateKeyToAccount(`0x${"7a".repeat(32)}`);
export const NOW = 1_800_000_000_000;

/** How the sources of a test host are reached, where it is not as `_site.yaml` says. */
export interface Reach {
  /** By the upstreams' ids: a local server, or the URL of a node that has none of its own. */
  readonly urls?: Readonly<Record<string, string>>;
  /**
   * Of one attempt; a minute unless said otherwise. Retries pause for a millisecond. A function is asked at each attempt, by
   * the upstream's id, so that a test gives up soon on the source that is silent, and on no other.
   */
  readonly timeoutMs?: number | ((id: string) => number);
  /** How often a failed attempt is repeated; as `_site.yaml` says unless said otherwise. */
  readonly retries?: number;
  /** How time is waited for. With one, the rates of `_site.yaml` hold; without, there are none. */
  readonly pause?: Pause;
}

export interface TestHost extends Host {
  /** The transactions that Base knows. */
  readonly chain: Map<string, EvmTransaction>;
  /** The background work that was registered, by name, to be run by hand. */
  readonly tasks: Map<string, (signal: AbortSignal) => Promise<void>>;
  /** The files that were published, by their addresses. */
  readonly published: Map<string, ReportFile>;
}

/**
 * A Host in memory: a treasury with a real account, a Base chain that is a map, a cache over a memory store, and upstreams
 * behind the real driver over HTTP, for nock or a local server to answer.
 */
export function createHost(overrides: Partial<Host> = {}, reach: Reach = {}): TestHost {
  const chain = new Map<string, EvmTransaction>();
  const tasks: TestHost["tasks"] = new Map();
  const published: TestHost["published"] = new Map();
  const log = overrides.log ?? silentLog;
  const clock = overrides.clock ?? { now: () => NOW };
  return {
    chain,
    tasks,
    published,
    anchor: {
      async ready() {},
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
    cache: createCache({ store: createMemoryStore(clock.now), namespace: "test", clock, log }),
    clock,
    env: {},
    evm: {
      transaction: async (hash) => chain.get(hash),
      verifyMessage: (address, message, signature) => verifyMessage({ address, message, signature }).catch(() => false),
    },
    llm: { answer: () => Promise.reject(new Error("this test has brought no language model")) },
    log,
    purchases: { list: async () => [], read: async () => undefined },
    reports: createReportPublisher({ publish: async (file) => publish(file, published) }, PAGES),
    schedule: { every: (name, _intervalMs, task) => void tasks.set(name, task) },
    site: { name: "payphone", baseUrl: "https://pay.test" },
    treasury: { evmAddress: async () => TREASURY.address, signMessage: (message) => TREASURY.signMessage({ message }) },
    upstream: openUpstreams({ clock, log }, reach),
    web: createGuardedFetch(),
    ...overrides,
  };
}

function publish(file: ReportFile, published: TestHost["published"]): string {
  const url = `https://pay.test/reports/${published.size + 1}/${file.name}`;
  published.set(url, file);
  return url;
}

/** The upstreams of `_site.yaml`, each opened once. */
function openUpstreams(
  deps: Pick<Host, "clock" | "log">,
  { urls = {}, timeoutMs: limit = 60_000, retries: wanted, pause }: Reach,
): Host["upstream"] {
  const opened = new Map<string, ReturnType<typeof createUpstream>>();
  const http = createHttpTransport(); // Of its own: a connection that a test gave up would fail the next one's request.
  return (id) => {
    const found = site.upstreams?.find((upstream) => upstream.id === id);
    if (!found) throw new RangeError(`_site.yaml names no upstream "${id}"`);
    const { title, variable, url, retries = 2, rate } = found;
    const timeoutMs = typeof limit === "number" ? limit : 60_000;
    const transport: Transport = ({ signal, ...request }) =>
      http.send({ ...request, signal: typeof limit === "number" ? signal : bound(signal, limit(id)) });
    const terms = { url: urls[id] ?? url, headers: {}, timeoutMs, retries: wanted ?? retries, pauseMs: 1 };
    const time = pause ? { pace: createPace({ rate, clock: deps.clock, pause }), pause } : {};
    const upstream = opened.get(id) ?? createUpstream({ id, title, variable, ...terms, ...time, transport, ...deps });
    opened.set(id, upstream);
    return upstream;
  };
}

const bound = (signal: AbortSignal, ms: number): AbortSignal => AbortSignal.any([signal, AbortSignal.timeout(ms)]);

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
export type Serve = (input: unknown, facts?: Partial<Call>) => Promise<Record<string, unknown>>;

/** @param id the manifest's. */
export async function serve(id: string, plugin: Plugin<object>, host: Host): Promise<Serve> {
  const { handler: path, input, output } = borders.get(id) ?? compileBorders(id);
  const [, name = ""] = path.split(".");
  const handler = ((await plugin.setup(host)) as Record<string, unknown>)[name];
  const { check, run } = (typeof handler === "function" ? { run: handler } : handler) as {
    check?(input: unknown): void;
    run(input: unknown, call: Call): unknown;
  };
  return async (given, facts) => {
    const { value, issues } = input.check(given, "body");
    if (issues.length > 0) throw new Problem("invalid-input", undefined, { issues });
    check?.(value);
    const answer = JSON.parse(JSON.stringify(await run(value, toCall({ service: id, ...facts }))));
    const checked = output.check(answer, "body");
    expect(checked.issues).to.deep.equal([]);
    expect(checked.value, "fields that the schema does not name").to.deep.equal(answer);
    return answer;
  };
}

/** What a service takes and gives, by its id: compiled once for all that serve it here. */
const borders = new Map<string, ReturnType<typeof compileBorders>>();

function compileBorders(id: string) {
  const { handler, input, output } = readManifest(id);
  const compiled = { handler, input: compile(input), output: compile(output) };
  borders.set(id, compiled);
  return compiled;
}

/** Processes of one service on one store, and the time that all of them have. */
export interface Processes {
  /** Milliseconds since the Unix epoch; a test sets it. */
  now: number;
  /** A process of its own. It repeats no failed request, unless told to. */
  start(reach?: Reach): Promise<Serve>;
}

/** @param id the manifest's. */
export function createProcesses(id: string, plugin: Plugin<object>): Processes {
  const clock = { now: () => processes.now };
  const store = createMemoryStore(clock.now);
  const processes: Processes = {
    now: NOW,
    start(reach = {}) {
      const cache = createCache({ store, namespace: plugin.name, clock, log: silentLog });
      return serve(id, plugin, createHost({ cache, clock }, { retries: 0, ...reach }));
    },
  };
  return processes;
}

interface Manifest {
  readonly handler: string;
  readonly input: string | object;
  readonly output: string | object;
  readonly examples: readonly { readonly input: unknown; readonly output?: unknown }[];
}

export const readManifest = (id: string): Manifest =>
  parse(readFileSync(join(root, "manifests", `${id}.yaml`), "utf8")) as Manifest;

const site = parse(readFileSync(join(root, "manifests/_site.yaml"), "utf8")) as SiteManifest;

/** How the pages of reports are made. */
export const PAGES = { site, baseUrl: "https://pay.test", isSandbox: false };

const compile = createCompiler(OWN_SCHEMAS);

/** Where and why an input was refused: `body.high: Value error, …`. */
export const faultsOf = async (work: Promise<unknown>): Promise<string[]> => {
  const { code, message, options } = await problemOf(work);
  expect(code, message).to.equal("invalid-input");
  return (options.issues ?? []).map(({ loc, msg }) => `${loc.join(".")}: ${msg}`);
};
