import { PROBLEMS, Problem } from "../../api/problem.ts";
import type { Budget } from "../../core/peers/budget.ts";
import { toExchangeId } from "../../core/peers/exchanges.ts";
import type { SettleResponse } from "../../core/x402/x402.ts";
import { parseJsonText, type RpcId, type RpcRequest, readMessage } from "../json-rpc.ts";
import { type McpHeaders, readHeader } from "../mcp/headers.ts";
import { A2A_CODES, PEER_CODES, type Refusal, refuse, refuseForNow, toPeerRefusal, toTaskRefusal } from "./errors.ts";
import { checkVersion, findMethod } from "./methods.ts";
import { toActivated } from "./payment.ts";
import { findPeerMethod, type PeerDoor } from "./peer.ts";
import type { Standard } from "./standard.ts";

/** One HTTP request, with its body read: within the limits of size and depth, and as text. */
export interface A2aHttpRequest {
  readonly headers: McpHeaders;
  readonly body: string;
  /** As in the log and in problem documents. */
  readonly requestId: string;
  /** Whose request it is: the key of an address, as limits count it. */
  readonly client: string;
  /** Aborted when the caller is gone. */
  readonly signal: AbortSignal;
}

export interface A2aHttpReply {
  readonly status: number;
  /** By lower-cased name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** What was called, for the log and the limits. */
  readonly calls: readonly A2aCall[];
}

export interface A2aCall {
  /** A service's id, or `a2a` where no service was reached. */
  readonly service: string;
  readonly challenge?: object;
  readonly receipt?: SettleResponse;
  readonly problem?: Problem;
}

/** The door between agents as a function of text. It never rejects. */
export interface A2a {
  handle(request: A2aHttpRequest): Promise<A2aHttpReply>;
}

export interface A2aServerOptions {
  readonly peers: PeerDoor;
  readonly tasks: Standard;
  /** By client address: every request, before anything is known of it. */
  readonly budget: Budget;
}

type Answer = Refusal | { readonly result: object; readonly call?: A2aCall };

const JSON_TYPE = /^application\/(?:json|[\w.-]+\+json)\s*(?:;|$)/i;
/** Inputs are kept with their tasks until these are paid for: a large body counts as several requests. */
const BYTES_OF_ONE = 16_384;

export function createA2aServer({ peers, tasks, budget }: A2aServerOptions): A2a {
  return {
    async handle(http) {
      const request = readRequest(http);
      const { method = "" } = request;
      const points = 1 + Math.floor(http.body.length / BYTES_OF_ONE);
      try {
        const retryAfter = await budget.take(http.client, points);
        if (retryAfter > 0) return toReply(request, refuseOften(method, retryAfter), http);
        if ("error" in request) return toReply(request, request, http);
        const answer = await dispatch(request, http);
        if (callOf(answer)?.receipt?.success) budget.giveBack(http.client, points);
        return toReply(request, answer, http);
      } catch (thrown) {
        return toReply(request, findPeerMethod(method) ? toPeerRefusal(thrown) : toTaskRefusal(thrown), http);
      }
    },
  };

  async function dispatch({ method: name, params }: RpcRequest, http: A2aHttpRequest): Promise<Answer> {
    const { headers, requestId, signal, client } = http;
    const peerMethod = findPeerMethod(name);
    if (peerMethod) {
      const answer = await peers(peerMethod, params, client);
      return isRefusal(answer) ? answer : { result: answer };
    }
    const method = findMethod(name);
    if (!method) return refuse(A2A_CODES.methodNotFound, `There is no method ${JSON.stringify(name.slice(0, 80))}`);
    const unserved = checkVersion(readHeader(headers, "a2a-version"));
    if (unserved) return unserved;
    if ("refusal" in method) return method.refusal;
    const exchange = toExchangeId(readHeader(headers, "x-a2a-exchange"));
    const answer = await tasks(method, params, { requestId, signal, exchange });
    if (isRefusal(answer)) return answer;
    const { task, required, receipt, problem } = answer.step;
    const note = { ...(required && { challenge: required }), ...(receipt && { receipt }), ...(problem && { problem }) };
    return { result: answer.result, call: { service: task.skill, ...note } };
  }
}

/** A request, or why there is none, with its id where that could be read. */
type ReadRequest = RpcRequest | (Refusal & { readonly id?: RpcId | undefined; readonly method?: undefined });

function readRequest({ headers, body }: A2aHttpRequest): ReadRequest {
  if (!JSON_TYPE.test(readHeader(headers, "content-type") ?? ""))
    return { ...toTaskRefusal(new Problem("unsupported-media-type")), status: 415 };
  const value = parseJsonText(body);
  if (value === undefined) return { ...refuse(A2A_CODES.parseError, "The body is not JSON"), status: 400 };
  const message = readMessage(value);
  if (message.kind === "request") return message;
  if (message.kind === "invalid") return { id: message.id, error: message.error };
  return refuse(A2A_CODES.invalidRequest, "Each POST holds one request with an id: all that is sent here is answered");
}

/** Both families say it in a code of their own. */
const refuseOften = (method: string, retryAfter: number): Refusal =>
  refuseForNow(findPeerMethod(method) ? PEER_CODES.policy : PROBLEMS["rate-limited"].rpc, retryAfter);

const isRefusal = (answer: object): answer is Refusal => "error" in answer;

const callOf = (answer: Answer): A2aCall | undefined => ("call" in answer ? answer.call : undefined);

function toReply({ id }: ReadRequest, answer: Answer, { headers }: A2aHttpRequest): A2aHttpReply {
  const fixed = { "content-type": "application/json", "cache-control": "no-store" };
  const envelope = { jsonrpc: "2.0", id: id ?? null };
  if (!isRefusal(answer)) {
    const body = JSON.stringify({ ...envelope, result: answer.result });
    return {
      status: 200,
      headers: { ...fixed, ...toActivated(headers) },
      body,
      calls: answer.call ? [answer.call] : [],
    };
  }
  const { error, status = 200, retryAfter, problem } = answer;
  return {
    status,
    headers: { ...fixed, ...(retryAfter !== undefined && { "retry-after": String(retryAfter) }) },
    body: JSON.stringify({ ...envelope, error }),
    calls: problem ? [{ service: "a2a", problem }] : [],
  };
}
