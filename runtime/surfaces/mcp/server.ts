import { Problem } from "../../api/problem.ts";
import { tryParseJson } from "../../core/json.ts";
import { toExchangeId } from "../../core/peers/exchanges.ts";
import { isJsonBody, type RequestHeaders, readHeader } from "../http/headers.ts";
import { type BroughtPayment, readPaymentHeaders, readSignInHeader } from "../http/payment-headers.ts";
import type { DoorReply, DoorRequest, RpcDoor } from "../rpc/door.ts";
import {
  NOT_JSON,
  RPC_CODES,
  type RpcError,
  type RpcId,
  type RpcMessage,
  readMessage,
  toErrorText,
  toResultText,
} from "../rpc/json-rpc.ts";
import { createAccessCheck, type McpAccess } from "./access.ts";
import { createMcpMethods, type McpMethodsOptions } from "./methods.ts";
import { type McpCall, metaPaymentOf, metaSignInOf, toPaymentHeaders } from "./payment.ts";
import { checkNamedVersion, openRequest } from "./request.ts";
import { isStateless, UNNAMED } from "./versions.ts";

export interface McpServerOptions extends McpMethodsOptions {
  readonly access: McpAccess;
  /** The largest body, in bytes. */
  readonly maxBytes: number;
}

/** The answer to one message; without `text`, the response has no body. */
interface MessageAnswer {
  readonly status: number;
  readonly text?: string;
  readonly call?: McpCall;
  readonly retryAfter?: number;
}

const MAX_BATCH = 20;

/** An MCP endpoint (Streamable HTTP, stateless). */
export function createMcpServer({ access, maxBytes, ...options }: McpServerOptions): RpcDoor {
  const checkAccess = createAccessCheck(access);
  const dispatch = createMcpMethods(options);

  return {
    name: "mcp",
    maxBytes,
    handle: (http) => respond(http).catch((thrown: unknown) => toReply(failWith(Problem.from(thrown), http.requestId))),
  };

  async function respond(http: DoorRequest): Promise<DoorReply> {
    const { headers } = http;
    const unwelcome = checkAccess(headers);
    if (unwelcome !== undefined) return refuse(http, fail(403, RPC_CODES.invalidRequest, unwelcome));
    if (!isJsonBody(headers)) return refuse(http, failWith(new Problem("unsupported-media-type"), http.requestId));
    const { text, bytes } = await http.read();
    const value = tryParseJson(text);
    if (value === undefined) return refuse(http, fail(400, RPC_CODES.parseError, NOT_JSON));
    const payment = readPaymentHeaders(headers);
    if (Array.isArray(value)) return answerBatch(value, { ...http, bytes, json: text }, payment);
    const reply = await answer(readMessage(value), { ...http, bytes, json: text }, payment);
    return toReply(reply, reply.call && toPaymentHeaders(reply.call, payment));
  }

  /** Batches exist in one version only (2025-03-26). Their calls run concurrently. */
  async function answerBatch(
    values: readonly unknown[],
    http: ReadRequest,
    payment: BroughtPayment | undefined,
  ): Promise<DoorReply> {
    const version = readHeader(http.headers, "mcp-protocol-version") ?? UNNAMED;
    const fault = explainBatch(values.length, version);
    if (fault !== undefined) return refuse(http, fail(400, RPC_CODES.invalidRequest, fault));
    const messages = values.map((value) => refuseHandshake(readMessage(value)));
    const requestOf = (at: number): ReadRequest => ({ ...http, bytes: Buffer.byteLength(JSON.stringify(values[at])) });
    // The payment headers of the request, and the receipt headers of the answer, belong to one call: the first that
    // brings no payment of its own.
    const payable = messages.findIndex(isPayableByHeader);
    const answers = await Promise.all(
      messages.map((message, at) => answer(message, requestOf(at), at === payable ? payment : undefined)),
    );
    const texts = answers.flatMap(({ text }) => text ?? []);
    const calls = answers.flatMap(({ call }) => call ?? []);
    const paid = answers[payable]?.call;
    const headers = paid && toPaymentHeaders(paid, payment);
    if (texts.length === 0) return toReply({ status: 202 });
    return { ...toReply({ status: 200, text: `[${texts.join(",")}]` }, headers), calls };
  }

  async function answer(
    message: RpcMessage,
    { headers, requestId, signal, admit, bytes, json, version1 = false }: ReadRequest,
    headerPayment: BroughtPayment | undefined,
  ): Promise<MessageAnswer> {
    const own = message.kind === "request" ? metaPaymentOf(message.params) : undefined;
    const payment = own ?? (isRequest(message, "tools/call") ? headerPayment : undefined);
    try {
      await admit(payment !== undefined);
    } catch (thrown) {
      return failWith(Problem.from(thrown), requestId, "id" in message ? message.id : undefined);
    }
    if (message.kind === "invalid") return { status: 400, text: toErrorText(message.id, message.error) };
    if (message.kind !== "request") return accept(message, headers);
    const request = openRequest(message, headers);
    if ("error" in request) return { status: request.status, text: toErrorText(message.id, request.error) };
    const answered = await dispatch(request, {
      payment: payment?.value,
      version1: version1 || (payment?.legacy ?? false),
      signIn: metaSignInOf(message.params) ?? readSignInHeader(headers),
      exchange: toExchangeId(readHeader(headers, "x-a2a-exchange")),
      requestId,
      signal,
      bytes,
      json,
    });
    if ("error" in answered) return { status: answered.status, text: toErrorText(message.id, answered.error) };
    const { result, call } = answered;
    return { status: 200, text: toResultText(message.id, result), ...(call && { call }) };
  }
}

/** A request whose body was read. `bytes` is the size of one message, `json` the whole body. */
type ReadRequest = DoorRequest & { readonly bytes: number; readonly json: string };

/** Answers a POST that holds no valid message. It counts as an unpaid request. */
async function refuse({ admit }: DoorRequest, answer: MessageAnswer): Promise<DoorReply> {
  await admit(false);
  return toReply(answer);
}

/** Accepts and ignores notifications, and responses to requests that this server never makes. */
function accept({ kind }: RpcMessage, headers: RequestHeaders): MessageAnswer {
  const refusal = checkNamedVersion(headers);
  if (refusal) return { status: refusal.status, text: toErrorText(undefined, refusal.error) };
  if (kind === "response" && isStateless(readHeader(headers, "mcp-protocol-version") ?? ""))
    return fail(400, RPC_CODES.invalidRequest, "Servers of this version make no requests, and so take no responses");
  return { status: 202 };
}

function explainBatch(length: number, version: string): string | undefined {
  if (version !== UNNAMED) return `Lists of messages exist in ${UNNAMED} only; send each message alone`;
  if (length === 0) return "The list of messages is empty";
  return length > MAX_BATCH ? `The list has ${length} messages; at most ${MAX_BATCH} are taken at once` : undefined;
}

/** A message of a list, in which no `initialize` is valid. */
const refuseHandshake = (message: RpcMessage): RpcMessage =>
  isRequest(message, "initialize")
    ? {
        kind: "invalid",
        id: message.id,
        error: { code: RPC_CODES.invalidRequest, message: "initialize must come alone" },
      }
    : message;

const isRequest = (message: RpcMessage, method: string): message is RpcMessage & { kind: "request" } =>
  message.kind === "request" && message.method === method;

const isPayableByHeader = (message: RpcMessage): boolean =>
  isRequest(message, "tools/call") && metaPaymentOf(message.params) === undefined;

const fail = (status: number, code: number, message: string): MessageAnswer => ({
  status,
  text: toErrorText(undefined, { code, message } satisfies RpcError),
});

const failWith = (problem: Problem, requestId: string, id?: RpcId): MessageAnswer => ({
  status: problem.status,
  text: toErrorText(id, problem.toRpcError(requestId)),
  ...(problem.options.retryAfter !== undefined && { retryAfter: problem.options.retryAfter }),
});

function toReply(
  { status, text, call, retryAfter }: MessageAnswer,
  headers: Readonly<Record<string, string>> = {},
): DoorReply {
  const fixed = {
    "cache-control": "no-store",
    ...(text !== undefined && { "content-type": "application/json" }),
    ...(retryAfter !== undefined && { "retry-after": String(retryAfter) }),
  };
  return {
    status,
    headers: { ...fixed, ...headers },
    ...(text !== undefined && { body: text }),
    calls: call ? [call] : [],
  };
}
