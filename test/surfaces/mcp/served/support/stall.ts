import type { AnyHandler, Call } from "../../../../../runtime/api/plugin.ts";
import { createPayments } from "../../../../../runtime/core/payments.ts";
import { createCompiler } from "../../../../../runtime/core/schema/validator.ts";
import { bindServices } from "../../../../../runtime/core/service.ts";
import { handlerOf, type Manifest } from "../../../../../runtime/core/set/manifest.ts";
import { silentLog } from "../../../../../runtime/core/silent-log.ts";
import type { PaymentRequired, PaymentRequirements } from "../../../../../runtime/core/x402/x402.ts";
import { createMcp, type McpOptions } from "../../../../../runtime/surfaces/mcp/mcp.ts";
import type { DoorReply, RpcDoor } from "../../../../../runtime/surfaces/rpc/door.ts";
import { createScriptedRail, isAway, type ScriptedRail } from "../../../../support/chains/scripted-rail.ts";
import { toDoorRequest } from "../../../../support/door-request.ts";
import { checkRange, createPolygonRail, toSite } from "../../../../support/sellers/dice.ts";
import { authorize } from "../../../../support/sellers/signed.ts";
import { createMemoryStore } from "../../../../support/store/memory-store.ts";

export const BASE_URL = "https://payphone.test";

/** Any JSON that came back: tests look at it, and fail where it is not what they expect. */
// biome-ignore lint/suspicious/noExplicitAny: what is asserted about needs no type
export type Loose = any;

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Loose;
  readonly calls: DoorReply["calls"];
}

/** An MCP endpoint with a few services, and rails whose every word the test decides. */
export interface Stall {
  readonly mcp: RpcDoor;
  /** What the endpoint was made of. */
  readonly parts: Pick<McpOptions, "services" | "schemas" | "invoke" | "site">;
  readonly rails: { readonly base: ScriptedRail; readonly solana: ScriptedRail; readonly polygon: ScriptedRail };
  /** How often a handler ran. */
  executions: number;
  /** Replaces what the handlers do. */
  handler: ((input: Loose, call: Call) => unknown) | undefined;
  /** One POST: a message, a list of them, or raw text. */
  post(message: unknown, headers?: Record<string, string>, signal?: AbortSignal): Promise<Answer>;
  /** `tools/call` as a client of the version sends it; `undefined` is one that names none. */
  call(name: string, args?: object, options?: CallOptions): Promise<Answer>;
  /** Calls unpaid, and makes a payment of the challenge's first offer. */
  pay(name: string, change?: PayChange): Promise<Loose>;
  close(): void;
}

export interface CallOptions {
  readonly version?: string;
  readonly meta?: object;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

export interface PayChange {
  readonly offer?: (offer: PaymentRequirements) => PaymentRequirements;
  readonly resource?: PaymentRequired["resource"] | undefined;
}

export const MODERN_META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

export const decode = (text: string | undefined): Loose => JSON.parse(Buffer.from(text ?? "", "base64").toString());

/** Schemas that refer to each other, as a set has them. */
export const SCHEMAS: ReadonlyMap<string, object> = new Map<string, object>([
  [
    "RollRequest",
    {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      description: "A range.",
      type: "object",
      properties: {
        low: { type: "integer" },
        high: { type: "integer" },
        count: { type: "integer", minimum: 1, default: 1 },
      },
      required: ["low", "high"],
    },
  ],
  [
    "RollResponse",
    {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        value: { type: "integer" },
        base: { anyOf: [{ $ref: "ChainAnchor.json" }, { type: "null" }] },
        solana: { $ref: "ChainAnchor.json", description: "The other chain." },
      },
      required: ["value"],
    },
  ],
  [
    "ChainAnchor",
    {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: { tx: { type: "string" } },
      required: ["tx"],
    },
  ],
]);

/** A schema that stands in its manifest. */
const WRITTEN_HERE = {
  type: "object",
  properties: { low: { $ref: "#/$defs/whole" }, high: { $ref: "#/$defs/whole" } },
  $defs: { whole: { type: "integer" } },
};

const manifest = (id: string, changes: Partial<Manifest> = {}): Manifest => ({
  id,
  title: `The ${id}`,
  description: `The service ${id}.`,
  route: `POST /v1/${id}`,
  price: "0.001",
  handler: `dice.${id}`,
  input: "RollRequest",
  output: "RollResponse",
  tags: [],
  examples: [],
  ...changes,
});

const { price: _price, ...free } = manifest("free");

const MANIFESTS: readonly Manifest[] = [
  manifest("roll", { hints: { readOnly: true, idempotent: false, destructive: false, openWorld: false } }),
  manifest("echo"),
  manifest("seal", { price: "1.77", hints: { openWorld: true }, input: WRITTEN_HERE }),
  free,
];

/** @param down the rails whose facilitators cannot be reached. */
export async function openStall(
  options: Partial<McpOptions> = {},
  down: readonly (keyof Stall["rails"])[] = [],
): Promise<Stall> {
  let nonce = 0;
  const rails = {
    base: createScriptedRail(),
    solana: createScriptedRail({
      id: "solana",
      title: "USDC on Solana",
      network: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
      asset: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
    }),
    polygon: createPolygonRail(),
  };
  const all = Object.values(rails);
  for (const id of down) rails[id].script.supported = isAway;
  const site = toSite(all);
  const work = (input: Loose, call: Call): unknown => {
    stall.executions += 1;
    return stall.handler ? stall.handler(input, call) : { value: input.low };
  };
  const handlers = new Map<string, AnyHandler>(
    MANIFESTS.map((one) => [handlerOf(one), { check: checkRange, run: work } as AnyHandler]),
  );
  const services = bindServices(MANIFESTS, { site, compile: createCompiler(SCHEMAS), handlers });
  const clock = { now: Date.now };
  const payments = createPayments({ site, services, rails: all, store: createMemoryStore(), clock, log: silentLog });
  await payments.start();
  const parts = { services, schemas: SCHEMAS, invoke: payments.invoke, site };
  const mcp = createMcp({ ...parts, baseUrl: BASE_URL, loopback: false, ...options });

  const stall: Stall = {
    mcp,
    parts,
    rails,
    executions: 0,
    handler: undefined,
    async post(message, headers = {}, signal = new AbortController().signal) {
      const text = typeof message === "string" ? message : JSON.stringify(message);
      const all = { host: new URL(BASE_URL).host, "content-type": "application/json", ...headers };
      const reply = await mcp.handle(toDoorRequest(text, { headers: all, signal }));
      return { ...reply, body: reply.body === undefined ? undefined : JSON.parse(reply.body) };
    },
    call(name, args = { low: 1, high: 6 }, { version = "2026-07-28", meta = {}, headers = {}, signal } = {}) {
      const modern = version === "2026-07-28";
      const params = { name, arguments: args, _meta: { ...(modern && MODERN_META), ...meta } };
      const standard = modern ? { "mcp-method": "tools/call", "mcp-name": name } : {};
      const versioned = version === "" ? {} : { "mcp-protocol-version": version };
      const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
      return stall.post(message, { ...versioned, ...standard, ...headers }, signal);
    },
    async pay(name, { offer, ...change } = {}) {
      const { body } = await stall.call(name);
      const required: PaymentRequired = body.result.structuredContent;
      const [first] = required.accepts as [PaymentRequirements];
      const accepted = offer ? offer(first) : first;
      nonce += 1;
      return toPayment(accepted, nonce, { resource: required.resource, ...change }.resource);
    },
    close: () => payments.close(),
  };
  return stall;
}

/** A payment of version 2 whose signature nobody looks at but the test's own facilitator. */
export function toPayment(accepted: PaymentRequirements, nonce: number, resource?: object): object {
  const from = `0x${nonce.toString(16).padStart(40, "1")}`; // Each payment is another wallet's.
  const payload = authorize(accepted, Math.floor(Date.now() / 1000), { nonce, from });
  return { x402Version: 2, accepted, payload, ...(resource && { resource }) };
}
