import { randomUUID } from "node:crypto";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { decodePaymentSignatureHeader } from "@x402/core/http";
import type { PaymentRequired } from "@x402/core/types";
import type { Door } from "../../core/books/events.ts";
import { PATHS } from "../../core/paths.ts";
import type { Manifest } from "../../core/set/manifest.ts";
import { MCP_KEYS } from "../../core/x402/mcp-keys.ts";
import { ask, field, textField } from "../call/http.ts";
import { asPaymentRequired } from "../call/offers.ts";
import { challengeIn, secondsToRetry, type ToolResult, transactionIn } from "../mcp-proxy/results.ts";

/** A service that can be bought, and an input for it. */
export interface SoldService {
  readonly manifest: Manifest;
  readonly path: string;
  readonly input: unknown;
}

/** The outcome of a payment. `later`: the same payment must be sent again. */
export interface Answer {
  readonly outcome: "served" | "later" | "refused";
  /** The reason of a refusal, in one word. */
  readonly what: string;
}

/** One call, from the request for the price on. */
export interface Visit {
  /** Undefined when no payment was asked for. */
  readonly challenge: PaymentRequired | undefined;
  /** The answer in place of a challenge, in one word. */
  readonly what: string;
  /** Sends a payment, given as the value of PAYMENT-SIGNATURE. May be called again with the same one. */
  pay(payment: string, signal: AbortSignal): Promise<Answer>;
}

/** A protocol for buying, as one buyer uses it. */
export interface ShopDoor {
  /** @throws when no answer came. */
  visit(service: SoldService): Promise<Visit>;
  close(): Promise<void>;
}

/** Never aborted: for requests that no buyer breaks off. */
export const NEVER: AbortSignal = new AbortController().signal;
const ANSWER_MS = 60_000;
const INFO = { name: "payphone-simulate", version: "1" };

/** Opens a door. @param url the seller's base URL, without a trailing slash */
export function openDoor(door: Door, url: string): ShopDoor {
  return { rest: openRest, mcp: openMcp, a2a: openA2a }[door](url);
}

const PASSING: readonly number[] = [408, 409, 425, 429, 503];

function openRest(url: string): ShopDoor {
  return {
    async visit({ path, input }) {
      const request = { method: "POST", url: url + path, body: JSON.stringify(input) };
      const unpaid = await ask(request, { signal: NEVER });
      return {
        challenge: unpaid.status === 402 ? asPaymentRequired(unpaid.json) : undefined,
        what: `${unpaid.status}`,
        async pay(payment, signal) {
          const { status, json } = await ask(request, { signal, headers: { "payment-signature": payment } });
          const outcome = status === 200 ? "served" : PASSING.includes(status) ? "later" : "refused";
          return { outcome, what: reasonOf(json) ?? `${status}` };
        },
      };
    },
    close: async () => {},
  };
}

/** Buys with the official MCP client, which pays in `_meta` (x402 v2, transport MCP). */
function openMcp(url: string): ShopDoor {
  let opened: Promise<Client> | undefined;
  async function connect(): Promise<Client> {
    const client = new Client(INFO, { versionNegotiation: { mode: "auto" } });
    await client.connect(new StreamableHTTPClientTransport(new URL(url + PATHS.mcp)));
    return client;
  }

  async function call(params: object, signal: AbortSignal): Promise<ToolResult> {
    opened ??= connect();
    try {
      const asked = { method: "tools/call", params } as { method: "tools/call"; params: { name: string } };
      return (await (await opened).request(asked, { signal, timeout: ANSWER_MS })) as unknown as ToolResult;
    } catch (error) {
      if (!signal.aborted) opened = undefined;
      throw error;
    }
  }

  return {
    async visit({ manifest: { id }, input }) {
      const tool = { name: id, arguments: input };
      const unpaid = await call(tool, NEVER);
      return {
        challenge: challengeIn(unpaid),
        what: whyOf(unpaid),
        async pay(payment, signal) {
          const paid = { ...tool, _meta: { [MCP_KEYS.payment]: decodePaymentSignatureHeader(payment) } };
          const result = await call(paid, signal);
          if (result.isError !== true && transactionIn(result) !== undefined) return { outcome: "served", what: "" };
          return { outcome: secondsToRetry(result) === undefined ? "refused" : "later", what: whyOf(result) };
        },
      };
    },
    close: async () => (await opened?.catch(() => undefined))?.close(),
  };
}

/** The code of a problem, or the first word of a challenge's refusal. */
const reasonOf = (json: unknown): string | undefined =>
  (textField(json, "code") ?? textField(json, "error"))?.split(":")[0];

const whyOf = ({ structuredContent }: ToolResult): string => reasonOf(structuredContent) ?? "no result";

const STATES: Readonly<Record<string, Answer["outcome"]>> = {
  completed: "served",
  working: "later",
  submitted: "later",
};

/** Buys with one task for each purchase, in A2A 0.3 with the x402 extension. */
function openA2a(url: string): ShopDoor {
  async function rpc(method: string, params: object, signal: AbortSignal): Promise<unknown> {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const { status, json } = await ask({ method: "POST", url: url + PATHS.a2a, body }, { signal });
    const result = field(json, "result");
    if (result === undefined) throw new Error(`A2A ${status}: ${textField(field(json, "error"), "message") ?? ""}`);
    return result;
  }

  const send = (message: object, signal: AbortSignal): Promise<unknown> => {
    const known = { kind: "message", messageId: randomUUID(), role: "user", parts: [] };
    return rpc("message/send", { message: { ...known, ...message } }, signal);
  };

  return {
    async visit({ manifest: { id: skill }, input }) {
      const begin = (): Promise<unknown> => send({ parts: [{ kind: "data", data: { skill, input } }] }, NEVER);
      let task = await begin();
      let state = stateOf(task);
      const challenge = asPaymentRequired(requiredOf(task));
      async function proceed(payment: string, signal: AbortSignal): Promise<unknown> {
        if (STATES[state] === "later") return rpc("tasks/get", { id: textField(task, "id") }, signal);
        if (state !== "input-required") task = await begin(); // A task takes one payment.
        const payload = decodePaymentSignatureHeader(payment);
        const metadata = { "x402.payment.status": "payment-submitted", "x402.payment.payload": payload };
        const of = { taskId: textField(task, "id"), contextId: textField(task, "contextId") };
        return send({ ...of, metadata }, signal);
      }
      return {
        challenge,
        what: state,
        async pay(payment, signal) {
          task = await proceed(payment, signal);
          state = stateOf(task);
          return { outcome: STATES[state] ?? "refused", what: reasonOf(requiredOf(task)) ?? state };
        },
      };
    },
    close: async () => {},
  };
}

const stateOf = (task: unknown): string => textField(field(task, "status"), "state") ?? "no task";
const requiredOf = (task: unknown): unknown =>
  field(field(field(field(task, "status"), "message"), "metadata"), "x402.payment.required");
