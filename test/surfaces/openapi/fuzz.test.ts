import { expect } from "chai";
import { createGeneratorSync } from "json-schema-faker";
import { Problem } from "../../../runtime/api/problem.ts";
import { readConfig } from "../../../runtime/cli/config/config.ts";
import { toSandboxSources } from "../../../runtime/cli/sandbox/sources.ts";
import { createJobEngine, type JobEngine } from "../../../runtime/cli/serve/job-engine.ts";
import { openSources, type Sources } from "../../../runtime/cli/serve/sources.ts";
import { loadPlugins } from "../../../runtime/cli/set/plugins/load.ts";
import { createPayments, type Payments } from "../../../runtime/core/payments.ts";
import { bindServices, type Service } from "../../../runtime/core/service.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import type { PaymentRequired } from "../../../runtime/core/x402/x402.ts";
import { createMemoryLimiter } from "../../../runtime/drivers/memory-limiter.ts";
import { createApp } from "../../../runtime/server/app.ts";
import { type OpenServer, openServer } from "../../../runtime/server/listen.ts";
import { createHost } from "../../plugins/host.ts";
import { createScriptedRail } from "../../support/chains/scripted-rail.ts";
import { authorize, encode } from "../../support/sellers/signed.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";
import { type Described, describeApi, type Operation } from "../support/described.ts";
import { type Loose, ROOT, type Shown, showSet } from "../support/fixture-set.ts";

/** Inputs of each service; more of them in `npm run test:crash`. */
const ROUNDS = process.env.CRASH_ROUNDS === undefined ? 5 : 30;
const SEED = 402;

/** Ways of spoiling an input, or the request around it. */
const SPOILT: readonly ((input: Loose) => { body: string; type?: string })[] = [
  () => ({ body: "{" }),
  () => ({ body: "" }),
  () => ({ body: "null" }),
  () => ({ body: "[]" }),
  () => ({ body: '"text"' }),
  () => ({ body: `${"[".repeat(200)}${"]".repeat(200)}` }),
  (input) => ({ body: JSON.stringify(input), type: "text/plain" }),
  (input) => ({ body: JSON.stringify(input), type: "application/xml" }),
  (input) => ({ body: JSON.stringify({ ...input, extra: { deep: [1, { two: null }] } }) }),
  (input) => ({ body: JSON.stringify(mapFields(input, () => null)) }),
  (input) => ({ body: JSON.stringify(mapFields(input, () => 1e300)) }),
  (input) => ({ body: JSON.stringify(mapFields(input, () => ["\u0000", -1, true])) }),
  (input) => ({ body: JSON.stringify(mapFields(input, () => "\ud800")) }),
  (input) => ({ body: JSON.stringify(mapFields(input, () => "x".repeat(5000))) }),
  (input) => ({ body: JSON.stringify(mapFields(input, () => ({}))) }),
];

const mapFields = (input: object, to: () => unknown): object =>
  Object.fromEntries(Object.keys(input).map((key) => [key, to()]));

describe("the description of this project's services", () => {
  let shown: Shown;
  let api: Described;
  let server: OpenServer;
  let payments: Payments;
  let jobs: Awaited<ReturnType<JobEngine["open"]>>;
  let sources: Sources;
  let nonce = 0;
  const generator = createGeneratorSync({ seed: SEED, optionalsProbability: 0.6 });

  before(async () => {
    shown = await showSet(ROOT);
    api = describeApi(shown.json("/openapi.json"));
    const { set, documents } = shown;
    const { site, compile } = set;
    const clock = { now: Date.now };
    const rails = [createScriptedRail()];
    const store = createMemoryStore(clock.now);
    const nowhere = { chains: { evm: new Map(), solana: new Map(), tokens: new Map() } };
    const recorded = toSandboxSources({ set, own: { env: {}, llm: undefined }, sandbox: nowhere, online: false });
    const { config, log } = { config: readConfig({}), log: silentLog };
    sources = openSources({ set, config, store, clock, log, override: recorded.sources });
    const { schedule, web, ...own } = sources;
    const llm = { answer: () => Promise.reject(new Problem("unavailable", "No model is asked here")) };
    const { handlers } = await loadPlugins(set, { ...own, host: { ...createHost(), llm, schedule, web }, env: {} });
    server = await openServer({ host: "127.0.0.1", port: 0 });
    const refundRail = undefined;
    const engine = createJobEngine({
      site,
      config,
      baseUrl: server.url,
      refundRail,
      store,
      createLimiter: createMemoryLimiter,
      clock,
      log,
    });
    const services = bindServices(set.manifests, { site, compile, handlers, statusOf: engine.statusOf });
    jobs = await engine.open(services);
    payments = createPayments({ site, services, rails, jobs, store, clock, log });
    await payments.start();
    server.attach(
      createApp({
        services,
        invoke: payments.invoke,
        challenge: payments.offers.challenge,
        site: { ...site, baseUrl: server.url },
        limits: { ...site.limits, unpaid_burst: 1e6, unpaid_per_minute: 1e6 },
        documents,
        ready: async () => ({ status: "ready", store: "up", rails: [], upstreams: [], services: [] }),
        createLimiter: createMemoryLimiter,
        clock,
        log: silentLog,
      }),
    );
  });
  after(async () => {
    payments.close();
    await jobs.close();
    await sources.close();
    await server.close({ graceMs: 0 });
  });

  /** Asks, and holds the answer to the description. Gives its status. */
  async function ask({ operation, method }: Operation, url: string, init: RequestInit): Promise<number> {
    const response = await fetch(url, { method, ...init });
    const text = await response.text();
    const type = response.headers.get("content-type") ?? "none";
    const answer = { status: response.status, type, body: parse(text) };
    const told = `${method} ${url} ${String(init.body).slice(0, 300)} → ${response.status} ${text.slice(0, 600)}`;
    expect(api.faultsOfAnswer(operation, answer), told).to.equal("");
    expect(response.status, told).not.to.equal(500);
    return response.status;
  }

  async function pay(url: string, method: string): Promise<Record<string, string>> {
    const challenge = (await (await fetch(url, { method })).json()) as PaymentRequired;
    const [accepted] = challenge.accepts;
    if (!accepted) return {};
    nonce += 1;
    const payload = authorize(accepted, Math.floor(Date.now() / 1000), { nonce });
    return { "payment-signature": encode({ x402Version: 2, resource: challenge.resource, accepted, payload }) };
  }

  /** The request of an input, as the description has it. */
  function toRequest({ path, method, operation }: Operation, input: Loose): { url: string; init: RequestInit } {
    const named = (place: string): string[] =>
      (operation.parameters ?? []).filter((one: Loose) => one.in === place).map((one: Loose) => one.name);
    const query = new URLSearchParams();
    for (const name of named("query"))
      for (const value of [input[name] ?? []].flat())
        query.append(name, typeof value === "object" ? "{}" : String(value));
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) =>
      encodeURIComponent(String(input[name]).toWellFormed() || "x"),
    );
    const url = `${server.url}${filled}${query.size > 0 ? `?${query}` : ""}`;
    if (method === "GET") return { url, init: {} };
    return { url, init: { headers: { "content-type": "application/json" }, body: JSON.stringify(input) } };
  }

  const serviceOf = ({ path }: Operation): Service => {
    const service = shown.services.find((one) => one.path === path);
    if (!service) throw new RangeError(`no service has the path ${path}`);
    return service;
  };
  const schemaOf = (one: Operation): object =>
    inline(one.operation.requestBody?.content["application/json"].schema ?? toObject(one));
  const toObject = ({ operation: { parameters = [] } }: Operation): object => ({
    type: "object",
    properties: Object.fromEntries(parameters.map(({ name, schema }: Loose) => [name, schema])),
    required: parameters.filter(({ required }: Loose) => required).map(({ name }: Loose) => name),
  });
  /** With the description's components where the generator looks for them. */
  const inline = (schema: object): object => {
    const { components } = shown.json("/openapi.json");
    return { ...(api.resolve(schema) as object), components };
  };

  it("holds for every answer to what fits it, unpaid and paid", async () => {
    const answered = new Map<string, Set<number>>();
    for (const one of api.operations.filter(({ operation }) => !["health", "ready"].includes(operation.operationId))) {
      const isPaid = serviceOf(one).manifest.price !== undefined;
      const statuses = new Set<number>();
      answered.set(one.operation.operationId, statuses);
      const schema = schemaOf(one);
      for (let round = 0; round < ROUNDS; round += 1) {
        const { url, init } = toRequest(one, generator.generate(schema as Loose));
        if (isPaid) expect(await ask(one, url, init)).to.equal(402);
        const headers = isPaid ? await pay(url, one.method) : {};
        statuses.add(await ask(one, url, { ...init, headers: { ...init.headers, ...headers } }));
      }
      for (const { input } of serviceOf(one).manifest.examples) {
        const { url, init } = toRequest(one, input);
        const headers = isPaid ? await pay(url, one.method) : {};
        statuses.add(await ask(one, url, { ...init, headers: { ...init.headers, ...headers } }));
      }
    }
    const sold = [...answered.values()].filter((statuses) => statuses.has(200));
    expect(sold.length, "services that answered something with 200").to.be.above(3);
  });

  it("holds for every answer to what does not fit it", async () => {
    for (const one of api.operations.filter(({ method }) => method === "POST")) {
      const isPaid = serviceOf(one).manifest.price !== undefined;
      const input = serviceOf(one).manifest.examples[0]?.input;
      for (const spoil of SPOILT) {
        const { body, type = "application/json" } = spoil(input);
        const { url } = toRequest(one, input);
        const headers = { "content-type": type, ...(isPaid && (await pay(url, one.method))) };
        await ask(one, url, { headers, body });
      }
    }
  });

  it("holds for every answer to a payment that is none", async () => {
    for (const one of api.operations.filter(({ operation }) => "402" in operation.responses)) {
      const { url, init } = toRequest(one, serviceOf(one).manifest.examples[0]?.input);
      for (const payment of [
        "",
        "nonsense",
        "e30=",
        Buffer.from('{"x402Version":2}').toString("base64"),
        "=".repeat(9000),
      ])
        expect(await ask(one, url, { ...init, headers: { ...init.headers, "payment-signature": payment } })).to.equal(
          402,
        );
    }
  });

  it("holds for the probes", async () => {
    for (const one of api.operations.filter(({ operation }) => ["health", "ready"].includes(operation.operationId))) {
      expect(await ask(one, server.url + one.path, {})).to.equal(200);
      expect(await ask(one, `${server.url}${one.path}?${"x".repeat(9000)}`, {})).to.equal(414);
    }
  });
});

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
