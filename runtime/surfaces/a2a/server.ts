import { Problem } from "../../api/problem.ts";
import { tryParseJson } from "../../core/json.ts";
import type { Budget } from "../../core/peers/budget.ts";
import { toExchangeId } from "../../core/peers/exchanges.ts";
import { isJsonBody, readHeader } from "../http/headers.ts";
import { readSignInHeader } from "../http/payment-headers.ts";
import type { DoorBody, DoorCall, DoorReply, DoorRequest, RpcDoor } from "../rpc/door.ts";
import { NOT_JSON, type RpcId, type RpcRequest, readMessage } from "../rpc/json-rpc.ts";
import {
  A2A_CODES,
  type A2aRefusal,
  isRefusal,
  refuse,
  refuseForNow,
  toDetails,
  toPeerRefusal,
  toTaskRefusal,
} from "./errors.ts";
import { checkVersion, findMethod } from "./methods.ts";
import { metadataOf, readMessageSignIn, readPaymentMessage, toActivated } from "./payment.ts";
import { findPeerMethod, type PeerDoor } from "./peers/door.ts";
import type { Standard } from "./standard.ts";

export interface A2aServerOptions {
  readonly peers: PeerDoor;
  readonly tasks: Standard;
  /** Requests per client address. */
  readonly budget: Budget;
  /** The largest body, in bytes. */
  readonly maxBytes: number;
}

/** The answer to one request. */
type MethodAnswer = A2aRefusal | { readonly result: object; readonly call?: DoorCall };

/** A body counts as one more request for each 16 KB, because its input is stored until the task is paid. */
const BYTES_OF_ONE = 16_384;

/** The door between agents. */
export function createA2aServer({ peers, tasks, budget, maxBytes }: A2aServerOptions): RpcDoor {
  return {
    name: "a2a",
    maxBytes,
    async handle(http) {
      let received: Received | undefined;
      try {
        await checkMediaType(http);
        const body = await http.read();
        received = receive(body.text);
        return toReply(received, await answer(received, { ...http, body }), http);
      } catch (thrown) {
        const toRefusal = findPeerMethod(methodOf(received)) ? toPeerRefusal : toTaskRefusal;
        return toReply(received, toRefusal(thrown, http.requestId), http);
      }
    },
  };

  async function answer(received: Received, http: ReadRequest): Promise<MethodAnswer> {
    const points = Math.max(toPoints(methodOf(received)), 1 + Math.floor(http.body.bytes / BYTES_OF_ONE));
    const retryAfter = await budget.take(http.client, points);
    if (retryAfter > 0) return refuseOften(methodOf(received), retryAfter, http.requestId);
    await http.admit(isPaying(received));
    if (received.kind === "refused") return received.refusal;
    const answered = await dispatch(received, http);
    const call = isRefusal(answered) ? undefined : answered.call;
    if (call?.receipt?.success && !call.isRepeat) budget.giveBack(http.client, points);
    return answered;
  }

  async function dispatch({ method: name, params }: RpcRequest, http: ReadRequest): Promise<MethodAnswer> {
    const { headers, requestId, signal, client, body, version1 = false } = http;
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
    const signIn = readMessageSignIn(params) ?? readSignInHeader(headers);
    const answer = await tasks(method, params, { requestId, signal, exchange, body, signIn, version1 });
    if (isRefusal(answer)) return answer;
    if (!answer.step) return { result: answer.result };
    const { task, required, receipt, asset, problem, isRepeat } = answer.step;
    const paid = { ...(asset && { asset }), ...(isRepeat && { isRepeat }) };
    const note = { ...(required && { challenge: required }), ...(receipt && { receipt }), ...(problem && { problem }) };
    return { result: answer.result, call: { service: task.skill, ...note, ...paid } };
  }
}

/** How many requests a method counts as. Listing tasks reads many of them. */
function toPoints(name: string): number {
  const method = findMethod(name);
  return method && "verb" in method && method.verb === "list" ? 5 : 1;
}

type ReadRequest = DoorRequest & { readonly body: DoorBody };

/** A message that can be dispatched, or its refusal, with the message's id where it could be read. */
type Received =
  | RpcRequest
  | { readonly kind: "refused"; readonly id?: RpcId | undefined; readonly refusal: A2aRefusal };

async function checkMediaType({ headers, admit }: DoorRequest): Promise<void> {
  if (isJsonBody(headers)) return;
  await admit(false);
  throw new Problem("unsupported-media-type");
}

function receive(text: string): Received {
  const value = tryParseJson(text);
  if (value === undefined)
    return { kind: "refused", refusal: { ...refuse(A2A_CODES.parseError, NOT_JSON), status: 400 } };
  const message = readMessage(value);
  if (message.kind === "request") return message;
  if (message.kind === "invalid") return { kind: "refused", id: message.id, refusal: { error: message.error } };
  const complaint = "Each POST holds one request with an id: all that is sent here is answered";
  return { kind: "refused", refusal: refuse(A2A_CODES.invalidRequest, complaint) };
}

const methodOf = (received: Received | undefined): string => (received?.kind === "request" ? received.method : "");

/** Whether a message brings a payment, valid or not. */
const isPaying = (received: Received): boolean =>
  received.kind === "request" && typeof readPaymentMessage(metadataOf(received.params)) === "object";

/** The refusal for too many requests. Peer methods have a code of their own. */
function refuseOften(method: string, retryAfter: number, requestId: string): A2aRefusal {
  if (findPeerMethod(method)) return refuseForNow(retryAfter);
  const problem = new Problem("rate-limited", `Too many requests; try again in ${retryAfter} s`, { retryAfter });
  return toTaskRefusal(problem, requestId);
}

function toReply(received: Received | undefined, answer: MethodAnswer, { headers }: DoorRequest): DoorReply {
  const fixed = { "content-type": "application/json", "cache-control": "no-store" };
  const envelope = { jsonrpc: "2.0", id: received?.id ?? null };
  if (!isRefusal(answer)) {
    const body = JSON.stringify({ ...envelope, result: answer.result });
    return {
      status: 200,
      headers: { ...fixed, ...toActivated(headers) },
      body,
      calls: answer.call ? [answer.call] : [],
    };
  }
  const { status = 200, retryAfter, problem } = answer;
  const isTyped = findMethod(methodOf(received))?.dialect === "1.0";
  const details = isTyped ? toDetails(answer.error) : [];
  const error = details.length > 0 ? { ...answer.error, data: details } : answer.error;
  return {
    status,
    headers: { ...fixed, ...(retryAfter !== undefined && { "retry-after": String(retryAfter) }) },
    body: JSON.stringify({ ...envelope, error }),
    calls: problem ? [{ service: "a2a", problem }] : [],
  };
}
