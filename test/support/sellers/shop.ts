import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate } from "node:timers/promises";
import type { AnyHandler, Call, Log } from "../../../runtime/api/plugin.ts";
import { PATHS } from "../../../runtime/core/paths.ts";
import type { ExtensionsOf } from "../../../runtime/core/payments/offers/offers.ts";
import { createPayments, type PaymentsDeps } from "../../../runtime/core/payments.ts";
import { createCompiler } from "../../../runtime/core/schema/validator.ts";
import { bindServices } from "../../../runtime/core/service.ts";
import type { Manifest, SiteManifest } from "../../../runtime/core/set/manifest.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import { createPurchaseList } from "../../../runtime/core/wallets/purchases.ts";
import { createSignIns } from "../../../runtime/core/wallets/sign-in.ts";
import type { PaymentRequired, PaymentRequirements, SettleResponse } from "../../../runtime/core/x402/x402.ts";
import { createMemoryLimiter } from "../../../runtime/drivers/memory-limiter.ts";
import { createWalletProof } from "../../../runtime/drivers/wallet-proof.ts";
import { closeServer } from "../../../runtime/sandbox/json-rpc.ts";
import { createApp } from "../../../runtime/server/app.ts";
import { createMcp } from "../../../runtime/surfaces/mcp/mcp.ts";
import { createScriptedRail, type ScriptedRail } from "../chains/scripted-rail.ts";
import { eventually } from "../eventually.ts";
import { createMemoryStore } from "../store/memory-store.ts";
import { createTestClock, type TestClock } from "../test-clock.ts";
import { checkRange, toSite } from "./dice.ts";
import { manifest, PURCHASES, SCREEN } from "./shop-services.ts";
import { authorize, encode, type PayOptions } from "./signed.ts";

/** An input of the shop's services. */
export const ROLL = { low: 1, high: 6 };

type Roll = (input: { low: number; high: number; count: number }, call: Call) => unknown;

export interface ShopOptions {
  readonly rail?: ScriptedRail;
  /** The `ready` of the paid-first service. */
  readonly ready?: (input: { low: number }) => void;
  /** How many calls of one payer may be in flight. */
  readonly callsPerPayer?: number;
  /** Further rails. */
  readonly others?: readonly ScriptedRail[];
  readonly store?: ReturnType<typeof createMemoryStore>;
  readonly clock?: TestClock;
  /** The public base URL, when it differs from the server's own. */
  readonly baseUrl?: string;
  readonly price?: string;
  /** The id of the service at /v1/roll, when it is another one. */
  readonly rollId?: string;
  readonly deadlineSeconds?: number;
  readonly limits?: Partial<SiteManifest["limits"]>;
  /** The free calls of rolls. */
  readonly free?: Manifest["free"];
  readonly extensionsOf?: ExtensionsOf;
  /** House rules of `_site.yaml`. */
  readonly rules?: Pick<SiteManifest, "deny" | "allow" | "screen">;
  /** Sold as the service `screen`: whether a wallet is sanctioned. */
  readonly screen?: (wallet: string) => boolean | Promise<boolean>;
  readonly log?: Log;
  readonly trust?: PaymentsDeps["trust"];
  readonly patience?: PaymentsDeps["patience"];
  readonly counters?: PaymentsDeps["counters"];
}

/** The whole runtime over real HTTP, with two services and a scripted rail. */
export interface Shop {
  readonly url: string;
  readonly rail: ScriptedRail;
  readonly store: ReturnType<typeof createMemoryStore>;
  readonly clock: TestClock;
  /** How often the handler ran since the last start. */
  executions: number;
  /** Replaces the handler's work. */
  handler: Roll | undefined;
  post(path: string, body: unknown, headers?: Record<string, string>, signal?: AbortSignal): Promise<Response>;
  /** Gets the challenge of a path, and makes the PAYMENT-SIGNATURE header for its first offer. */
  pay(path: string, options?: PayOptions): Promise<string>;
  payV1(path: string, options?: PayOptions): Promise<string>;
  /** Gets the challenge, pays, and calls. */
  buy(path: string, body: unknown): Promise<Response>;
  /** Repeats a call with the same payment while the answer is `payment-in-progress`. */
  retry(path: string, body: unknown, payment: string): Promise<Response>;
  receipt(response: Response): SettleResponse;
  /** Restarts the runtime on the same store and address, optionally with another price. */
  restart(change?: Pick<ShopOptions, "price">): Promise<void>;
  close(): Promise<void>;
}

export async function openShop(options: ShopOptions = {}): Promise<Shop> {
  const { rail = createScriptedRail(), clock = createTestClock(), store = createMemoryStore(clock.now) } = options;
  const { others = [], extensionsOf, log = silentLog, patience = {}, counters, trust } = options;
  const rails = [rail, ...others];
  const seconds = (): number => Math.floor(clock.now() / 1000);
  let nonce = 0;
  let running: Awaited<ReturnType<typeof run>>;

  const shop: Shop = {
    rail,
    store,
    clock,
    get url() {
      return running.url;
    },
    executions: 0,
    handler: undefined,
    post: (path, body, headers = {}, signal) =>
      fetch(running.url + path, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
        ...(signal && { signal }),
      }),
    async pay(path, { change = (offer: PaymentRequirements) => offer, nonce: chosen, ...rest } = {}) {
      const challenge = (await (await fetch(running.url + path, { method: "POST" })).json()) as PaymentRequired;
      const accepted = change(challenge.accepts[0] as PaymentRequirements);
      const payload = authorize(accepted, seconds(), { ...rest, nonce: chosen ?? ++nonce });
      const resource = "resource" in rest ? rest.resource : challenge.resource;
      const { identifier: id } = rest;
      const extensions = id !== undefined && { "payment-identifier": { info: { required: false, id } } };
      return encode({
        x402Version: 2,
        accepted,
        payload,
        ...(resource && { resource }),
        ...(extensions && { extensions }),
      });
    },
    async payV1(path, options) {
      const response = await fetch(`${running.url}${path}?x402Version=1`, { method: "POST" });
      const { accepts } = (await response.json()) as {
        accepts: { maxAmountRequired: string; payTo: string; network: string }[];
      };
      const [{ maxAmountRequired: amount, payTo, network }] = accepts as [(typeof accepts)[number]];
      const payload = authorize({ amount, payTo }, seconds(), { ...options, nonce: ++nonce });
      return encode({ x402Version: 1, scheme: "exact", network, payload });
    },
    buy: async (path, body) => shop.post(path, body, { "payment-signature": await shop.pay(path) }),
    retry: (path, body, payment) =>
      eventually(
        () => shop.post(path, body, { "payment-signature": payment }),
        async (response) => {
          if (response.status !== 409) return true;
          const { code } = (await response.clone().json()) as { code: string };
          return code !== "payment-in-progress";
        },
      ),
    receipt: (response) =>
      JSON.parse(Buffer.from(response.headers.get("payment-response") ?? "", "base64").toString()) as SettleResponse,
    async restart(change = {}) {
      const { port } = running;
      await running.close();
      // Lets the client notice that its kept-alive connections are closed.
      for (let turn = 0; turn < 5; turn += 1) await setImmediate();
      shop.executions = 0;
      running = await run(change.price ?? options.price ?? "0.001", port, options.baseUrl);
    },
    close: () => running.close(),
  };
  running = await run(options.price ?? "0.001", 0, options.baseUrl);
  return shop;

  async function run(price: string, port: number, baseUrl?: string) {
    const server = createServer({ keepAliveTimeout: 0 }); // It must not close one on which a call is just being sent.
    await new Promise<void>((done) => server.listen(port, "127.0.0.1", done));
    const address = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${address.port}`;
    const handlers = new Map<string, AnyHandler>([
      ["dice.roll", { check: checkRange, run: work } as AnyHandler],
      ["dice.echo", { ready: (input: { low: number }) => options.ready?.(input), run: work } as AnyHandler],
    ]);
    const site = toSite(rails);
    const { deadlineSeconds: deadline_seconds = site.limits.deadline_seconds, callsPerPayer = 64 } = options;
    const place = {
      ...site,
      ...options.rules,
      limits: { ...site.limits, deadline_seconds, calls_per_payer: callsPerPayer, ...options.limits },
    };
    const bought = createPurchaseList({ store, clock });
    handlers.set("dice.purchases", async (_input: unknown, { accounts = [] }: Call) => ({
      purchases: await bought.list(accounts, 20),
    }));
    const { rollId: id = "roll" } = options;
    const roll = { ...manifest("roll", price), id, ...(options.free && { free: options.free }) };
    const echo = { ...manifest("echo", "0.001"), hints: { readOnly: false }, charge: "first" as const };
    handlers.set("dice.screen", async ({ wallet }: { wallet: string }) => ({
      sanctions_match: await options.screen?.(wallet),
    }));
    const services = bindServices([roll, echo, PURCHASES, ...(options.screen ? [SCREEN] : [])], {
      compile: createCompiler(new Map()),
      handlers,
      site: place,
    });
    const base = baseUrl ?? url;
    const networks = rails.map((one) => one.manifest.network);
    const signIns = createSignIns({ baseUrl: base, networks, prove: createWalletProof(new Map()), store, clock });
    const terms = { site: place, services, rails, store, clock, log, extensionsOf, signIns, patience, counters, trust };
    const payments = createPayments(terms);
    await payments.start();
    const { invoke, offers, stalls } = payments;
    const report = { status: "ready", store: "up", rails: [], upstreams: [], services: [] } as const;
    const mcp = createMcp({ services, schemas: new Map(), invoke, site: place, baseUrl: base, loopback: true });
    server.on(
      "request",
      createApp({
        services,
        invoke,
        challenge: offers.challenge,
        site: { ...place, baseUrl: base },
        doors: new Map([[PATHS.mcp, mcp]]),
        limits: place.limits,
        createLimiter: createMemoryLimiter,
        trustProxy: 1, // A test sets its client address in X-Forwarded-For.
        ready: async () => ({ ...report, warnings: stalls.warnings() }),
        clock,
        log,
      }),
    );
    return {
      url,
      port: address.port,
      async close() {
        payments.close();
        await closeServer(server);
      },
    };
  }

  function work(input: { low: number; high: number; count: number }, call: Call): unknown {
    shop.executions += 1;
    return shop.handler ? shop.handler(input, call) : { value: input.low, executions: shop.executions };
  }
}
