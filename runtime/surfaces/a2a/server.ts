import { PROBLEMS, Problem } from "../../api/problem.ts";
import type { Budget } from "../../core/peers/budget.ts";
import { toExchangeId } from "../../core/peers/exchanges.ts";
import { readHeader } from "../http/headers.ts";
import type { DoorCall, DoorReply, DoorRequest, RpcDoor } from "../rpc/door.ts";
import { parseJsonText, type RpcId, type RpcRequest, readMessage } from "../rpc/json-rpc.ts";
import {
  A2A_CODES,
  type A2aRefusal,
  isRefusal,
  PEER_CODES,
  refuse,
  refuseForNow,
  toPeerRefusal,
  toTaskRefusal,
} from "./errors.ts";
import { checkVersion, findMethod } from "./methods.ts";
import { toActivated } from "./payment.ts";
import { findPeerMethod, type PeerDoor } from "./peer.ts";
import type { Standard } from "./standard.ts";

export interface A2aServerOptions {
  readonly peers: PeerDoor;
  readonly tasks: Standard;
  /** Every request counts, by client address, before it is read. */
  readonly budget: Budget;
}

/** The answer to one request. */
type MethodAnswer = A2aRefusal | { readonly result: object; readonly call?: DoorCall };

const JSON_TYPE = /^application\/(?:json|[\w.-]+\+json)\s*(?:;|$)/i;
/** Inputs are kept with their tasks until these are paid: a large body counts as several requests. */
const BYTES_OF_ONE = 16_384;

/** The door between agents. */
export function createA2aServer({ peers, tasks, budget }: A2aServerOptions): RpcDoor {
  return {
    async handle(http) {
      const request = readRequest(http);
      const { method = "" } = request;
      const points = 1 + Math.floor(http.body.length / BYTES_OF_ONE);
      try {
        const retryAfter = await budget.take(http.client, points);
        if (retryAfter > 0) return toReply(request, refuseOften(method, retryAfter), http);
        if (isRefusal(request)) return toReply(request, request, http);
        const answer = await dispatch(request, http);
        if (!isRefusal(answer) && answer.call?.receipt?.success) budget.giveBack(http.client, points);
        return toReply(request, answer, http);
      } catch (thrown) {
        return toReply(request, findPeerMethod(method) ? toPeerRefusal(thrown) : toTaskRefusal(thrown), http);
      }
    },
  };

  async function dispatch({ method: name, params }: RpcRequest, http: DoorRequest): Promise<MethodAnswer> {
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
type ReadRequest = RpcRequest | (A2aRefusal & { readonly id?: RpcId | undefined; readonly method?: undefined });

function readRequest({ headers, body }: DoorRequest): ReadRequest {
  if (!JSON_TYPE.test(readHeader(headers, "content-type") ?? ""))
    return { ...toTaskRefusal(new Problem("unsupported-media-type")), status: 415 };
  const value = parseJsonText(body);
  if (value === undefined) return { ...refuse(A2A_CODES.parseError, "The body is not JSON"), status: 400 };
  const message = readMessage(value);
  if (message.kind === "request") return message;
  if (message.kind === "invalid") return { id: message.id, error: message.error };
  return refuse(A2A_CODES.invalidRequest, "Each POST holds one request with an id: all that is sent here is answered");
}

/** Peer methods and standard methods have different codes for it. */
const refuseOften = (method: string, retryAfter: number): A2aRefusal =>
  refuseForNow(findPeerMethod(method) ? PEER_CODES.policy : PROBLEMS["rate-limited"].rpc, retryAfter);

function toReply({ id }: ReadRequest, answer: MethodAnswer, { headers }: DoorRequest): DoorReply {
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
