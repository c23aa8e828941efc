import { randomUUID } from "node:crypto";
import type { AnyHandler, Call } from "../../../../../runtime/api/plugin.ts";
import { createPayments } from "../../../../../runtime/core/payments.ts";
import { createExchanges, type Exchanges } from "../../../../../runtime/core/peers/exchanges.ts";
import type { Identity } from "../../../../../runtime/core/peers/identity.ts";
import { createCompiler } from "../../../../../runtime/core/schema/validator.ts";
import { bindServices, type Service } from "../../../../../runtime/core/service.ts";
import { handlerOf, type Manifest, type SiteManifest } from "../../../../../runtime/core/set/manifest.ts";
import { silentLog } from "../../../../../runtime/core/silent-log.ts";
import { createSignIns } from "../../../../../runtime/core/wallets/sign-in.ts";
import { createMemoryLimiter } from "../../../../../runtime/drivers/memory-limiter.ts";
import { createPeerBudgets } from "../../../../../runtime/drivers/peers/budgets.ts";
import { type A2aOptions, createA2a } from "../../../../../runtime/surfaces/a2a/a2a.ts";
import type { DoorReply, RpcDoor } from "../../../../../runtime/surfaces/rpc/door.ts";
import { createScriptedRail, isAway, type ScriptedRail } from "../../../../support/chains/scripted-rail.ts";
import { toDoorRequest } from "../../../../support/door-request.ts";
import { checkRange, createPolygonRail, toSite } from "../../../../support/sellers/dice.ts";
import { createMemoryStore } from "../../../../support/store/memory-store.ts";
import { createTestClock, type TestClock } from "../../../../support/test-clock.ts";
import { type Loose, toPayment } from "../../../mcp/served/support/stall.ts";
import { toIdentity, toPeerKeys } from "./peer.ts";

export const BASE_URL = "https://payphone.example";
const NETWORK = "eip155:8453";

export interface Answer extends Omit<DoorReply, "body"> {
  readonly body: Loose;
}

/** A door between agents with a few services, and rails whose every word the test decides. */
export interface Door {
  readonly a2a: RpcDoor;
  readonly site: SiteManifest;
  readonly services: readonly Service[];
  readonly identity: Identity;
  readonly exchanges: Exchanges;
  readonly rails: { readonly base: ScriptedRail; readonly polygon: ScriptedRail };
  readonly store: ReturnType<typeof createMemoryStore>;
  /** The door's time moves when the test says so. */
  readonly clock: TestClock;
  readonly invoke: A2aOptions["invoke"];
  /** How often a handler ran. */
  executions: number;
  /** Replaces what the handlers do. */
  handler: ((input: Loose, call: Call) => unknown) | undefined;
  /** One POST: a message, or raw text. */
  post(
    message: unknown,
    headers?: Record<string, string>,
    more?: { client?: string; signal?: AbortSignal },
  ): Promise<Answer>;
  /** A request with these params; gives the whole JSON-RPC answer. */
  call(method: string, params?: unknown, headers?: Record<string, string>): Promise<Loose>;
  /** A payment of an offer in this challenge. */
  pay(required: Loose, change?: (offer: Loose) => Loose): object;
  close(): void;
}

const RANGE = {
  type: "object",
  properties: { low: { type: "integer" }, high: { type: "integer" } },
  required: ["low", "high"],
};

const manifest = (id: string, changes: Partial<Manifest> = {}): Manifest => ({
  id,
  title: `The ${id}`,
  description: `The service ${id}.`,
  route: `POST /v1/${id}`,
  price: "0.001",
  handler: `dice.${id}`,
  input: RANGE,
  output: { type: "object", properties: { value: { type: "integer" } }, required: ["value"] },
  tags: ["dice"],
  examples: [{ input: { low: 1, high: 6 } }],
  ...changes,
});

export const manifestOf = manifest;
const { price: _price, ...free } = manifest("free");
export const MANIFESTS: readonly Manifest[] = [
  manifest("roll"),
  manifest("seal", { price: "1.77" }),
  manifest("twin"),
  manifest("listing", { output: { type: "array", items: { type: "integer" } } }),
  free,
];

/** Takes every message of anybody, however many came before. */
const boundless = { take: async () => 0, giveBack: () => {} };
export const BOUNDLESS: A2aOptions["budgets"] = { clients: boundless, peers: boundless };

export interface DoorOptions
  extends Partial<Omit<A2aOptions, "services" | "invoke" | "exchanges" | "store" | "clock">> {
  readonly manifests?: readonly Manifest[];
  /** Milliseconds since the Unix epoch at which the door's time stands. */
  readonly at?: number;
  readonly createId?: () => string;
  readonly store?: ReturnType<typeof createMemoryStore>;
  /** Default: no wallet can sign in. */
  readonly signInsOf?: (at: Pick<Door, "store" | "clock">) => A2aOptions["signIns"];
  /** House rules. */
  readonly rules?: Pick<SiteManifest, "deny"> & Pick<SiteManifest["limits"], "per_payer">;
  /** No rail's facilitator can be reached. */
  readonly down?: boolean;
}

/** Sign-ins that hold each signature to be its wallet's. */
export const TRUSTING: NonNullable<DoorOptions["signInsOf"]> = ({ store, clock }) =>
  createSignIns({ baseUrl: BASE_URL, networks: [NETWORK], prove: async () => "key", store, clock });

/** What a wallet signs in with at such a door, now and once. */
export const toProof = ({ clock }: Door, address: string): object => ({
  domain: new URL(BASE_URL).host,
  address,
  uri: BASE_URL,
  version: "1",
  chainId: NETWORK,
  type: "eip191",
  nonce: randomUUID().replaceAll("-", ""),
  issuedAt: new Date(clock.now()).toISOString(),
  signature: "0x00",
});

export async function openDoor({ manifests = MANIFESTS, at, createId, ...options }: DoorOptions = {}): Promise<Door> {
  let nonce = 0;
  const clock = createTestClock(at);
  const rails = { base: createScriptedRail(), polygon: createPolygonRail() };
  const all = Object.values(rails);
  if (options.down) for (const { script } of all) script.supported = isAway;
  const { per_payer, deny } = options.rules ?? {};
  const plain = toSite(all);
  const site = { ...plain, ...(deny && { deny }), limits: { ...plain.limits, ...(per_payer && { per_payer }) } };
  const store = options.store ?? createMemoryStore(clock.now);
  const work = (input: Loose, call: Call): unknown => {
    door.executions += 1;
    return door.handler ? door.handler(input, call) : { value: input.low };
  };
  const handlers = new Map(
    manifests.map((one) => [handlerOf(one), { check: checkRange, run: work } as unknown as AnyHandler]),
  );
  const services = bindServices(manifests, { site, compile: createCompiler(new Map()), handlers });
  const exchanges = createExchanges({ store, clock, site, ...(createId && { createId }) });
  const signIns = options.signInsOf?.({ store, clock });
  const payments = createPayments({
    site,
    services,
    rails: all,
    store,
    clock,
    log: silentLog,
    onSettled: exchanges.observe,
    signIns,
  });
  await payments.start();
  const identity = options.identity ?? toIdentity("11".repeat(32), "srv-2026-01");
  const a2a = createA2a({
    site,
    baseUrl: BASE_URL,
    facilitator: "https://facilitator.example",
    peerKeys: toPeerKeys({}),
    budgets: createPeerBudgets(createMemoryLimiter),
    ...options,
    services,
    invoke: payments.invoke,
    identity,
    exchanges,
    signIns,
    store,
    clock,
    log: silentLog,
  });

  const door: Door = {
    a2a,
    site,
    services,
    identity,
    exchanges,
    rails,
    store,
    clock,
    invoke: payments.invoke,
    executions: 0,
    handler: undefined,
    async post(message, headers = {}, { client = "192.0.2.1", signal = new AbortController().signal } = {}) {
      const body = typeof message === "string" ? message : JSON.stringify(message);
      const all = { "content-type": "application/json", ...headers };
      const reply = await a2a.handle(toDoorRequest(body, { headers: all, client, signal }));
      return { ...reply, body: JSON.parse(reply.body ?? "") };
    },
    async call(method, params = {}, headers = {}) {
      return (await door.post({ jsonrpc: "2.0", id: 7, method, params }, headers)).body;
    },
    pay({ accepts, resource }, change = (offer: Loose) => offer) {
      nonce += 1;
      return toPayment(change(accepts[0]), nonce, resource);
    },
    close: () => payments.close(),
  };
  return door;
}
