import type { Web } from "../../../runtime/api/capabilities.ts";
import type { AnyHandler } from "../../../runtime/api/plugin.ts";
import { readConfig } from "../../../runtime/cli/config/config.ts";
import { secretsOf } from "../../../runtime/cli/config/secrets.ts";
import { toSandboxSources } from "../../../runtime/cli/sandbox/sources.ts";
import { openSources } from "../../../runtime/cli/serve/sources.ts";
import { loadSet } from "../../../runtime/cli/set/load.ts";
import { createJobs } from "../../../runtime/core/jobs/jobs.ts";
import { createJobRecords } from "../../../runtime/core/jobs/records.ts";
import { createStatusOf } from "../../../runtime/core/jobs/status.ts";
import { bindServices } from "../../../runtime/core/service.ts";
import { toFaultLine } from "../../../runtime/core/set/faults.ts";
import type { JobPayment } from "../../../runtime/core/x402/x402.ts";
import { createLog } from "../../../runtime/drivers/log.ts";
import { createMcpHandlers } from "../../../runtime/drivers/mcp/mcp-handlers.ts";
import { createProxyHandlers } from "../../../runtime/drivers/proxy/handlers.ts";
import { createStoreQueue } from "../../../runtime/drivers/queue/store.ts";
import { type Files, makeDirectory } from "../../core/set/served-directory.ts";
import type { Loose } from "../../surfaces/mcp/served/support/stall.ts";
import { createScriptedRail, type ScriptedRail } from "../chains/scripted-rail.ts";
import { openSource, type ScriptedSource } from "../sources/scripted-source.ts";
import { createMemoryStore } from "../store/memory-store.ts";
import { createTestClock, type TestClock } from "../test-clock.ts";
import { openDoors } from "./doors.ts";
import { encode } from "./signed.ts";

/** A directory of proxied services, sold on all doors with a scripted rail, and the source that they read. */
export interface ProxyShop {
  readonly url: string;
  readonly rail: ScriptedRail;
  readonly source: ScriptedSource;
  readonly clock: TestClock;
  /** What does the work, by the handlers' names. */
  readonly handlers: ReadonlyMap<string, AnyHandler>;
  /** The lines that it has logged. */
  readonly output: () => string;
  /** The payments of failed jobs that must be refunded. */
  readonly refunds: readonly JobPayment[];
  /** The state of an upstream in `/ready`, and why it is down. */
  readonly statusOf: (upstream: string) => { readonly state: string; readonly reason?: string };
  pay(required: Loose): object;
  /** A call without a payment. */
  call(path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
  /** Gets the challenge, pays, and calls. Sends a GET when there is no body. */
  buy(path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
  close(): Promise<void>;
}

type Env = Readonly<Record<string, string>>;

export interface ProxyShopOptions {
  /** The directory, or its files; a function gets the source's URL. */
  readonly files: string | ((url: string) => Files | Promise<string>);
  /** Whether it sells recorded answers, as a sandbox does. */
  readonly isRecorded?: boolean;
  /** The variables; a function gets the source's URL. */
  readonly env?: Env | ((url: string) => Env);
  /** Replaces the guarded fetch. */
  readonly web?: Web;
}

/** @throws Error with the faults of the set. */
export async function openProxyShop(options: ProxyShopOptions): Promise<ProxyShop> {
  const { files } = options;
  const source = await openSource();
  const env = typeof options.env === "function" ? options.env(source.url) : (options.env ?? {});
  const given = typeof files === "string" ? files : await files(source.url);
  const set = await loadSet(typeof given === "string" ? given : await makeDirectory(given));
  if (set.faults.length > 0) throw new Error(set.faults.map(toFaultLine).join("\n"));
  const { site, schemas, compile, manifests } = set;
  let output = "";
  const clock = createTestClock();
  const config = readConfig(env);
  const destination = {
    write(line: string) {
      output += line;
    },
  };
  const log = createLog({ level: "info", secrets: secretsOf(config, set), destination });
  const store = createMemoryStore(clock.now);
  const none = { evm: new Map(), solana: new Map(), tokens: new Map() };
  const recorded = toSandboxSources({ set, own: { env, llm: undefined }, sandbox: { chains: none }, online: false });
  const override = options.isRecorded ? recorded.sources : undefined;
  const sources = openSources({ set, config, store, clock, log, override });
  const { upstreams, mcpServers: servers, web, cacheOf } = sources;
  const handlers = new Map([
    ...createProxyHandlers({ manifests, upstreams, web: options.web ?? web, cacheOf, compile, clock }),
    ...createMcpHandlers({ manifests, servers, compile }),
  ]);
  const doors = await openDoors();
  const { url, pay } = doors;
  const records = createJobRecords({ store, clock });
  const opened: JobPayment[] = [];
  const refunds = {
    async open({ payment }: { readonly payment: JobPayment }) {
      opened.push(payment);
    },
    start() {},
    close: async () => {},
    status: async () => ({ refund_tx: null, refund_pending: null }),
  };
  const statusOf = createStatusOf({ records, refunds, clock });
  const services = bindServices(manifests, { site, compile, handlers, statusOf });
  const queue = createStoreQueue({ store, clock, log, concurrencyOf: () => 4 });
  const jobs = createJobs({ services, records, queue, refunds, clock, log, baseUrl: url, retryMs: 1 });
  const rail = createScriptedRail(site.rails[0]);
  await doors.sell({ site, services, schemas, jobs, rail, store, clock, log });
  const shop: ProxyShop = {
    url,
    rail,
    source,
    clock,
    handlers,
    output: () => output,
    refunds: opened,
    statusOf: (id) => upstreams.get(id)?.status() ?? { state: "unknown" },
    pay,
    call: (path, body, headers = {}) =>
      fetch(url + path, {
        method: body === undefined ? "GET" : "POST",
        headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    async buy(path, body, headers = {}) {
      const payment = pay((await (await shop.call(path, body)).json()) as Loose);
      const text = encode(payment);
      return shop.call(path, body, { ...headers, "payment-signature": text });
    },
    async close() {
      await doors.close();
      await sources.close();
      await source.close();
    },
  };
  return shop;
}
