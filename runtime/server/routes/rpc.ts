import type { Request, Response } from "express";
import type { Tallies } from "../../core/books/tallies.ts";
import { type DoorCall, type DoorReply, ENVELOPE_LEVELS, type RpcDoor } from "../../surfaces/rpc/door.ts";
import type { FailureLog } from "../access-log.ts";
import { toDataHeaders } from "../reply/headers.ts";
import type { Reply } from "../reply/reply.ts";
import { contextOf, disconnectSignal, noteReceipt, type RequestContext } from "../request/context.ts";
import { readRequestText } from "../request/input.ts";
import type { Limits } from "../request/limits.ts";
import { isVersion1 } from "../request/target.ts";
import type { Methods } from "./resource.ts";

export interface RpcDeps {
  readonly doors: ReadonlyMap<string, RpcDoor>;
  readonly maxDepth: number;
  readonly limits: Limits;
  /** Counts the requests that the limits refuse. */
  readonly count?: Tallies["count"] | undefined;
  readonly fail: FailureLog;
}

/** The doors as paths that answer POST. */
export const createRpc = ({ doors, ...deps }: RpcDeps): ReadonlyMap<string, Methods> =>
  new Map(
    [...doors].map(([path, door]) => [path, { POST: (request, response) => answer(door, request, response, deps) }]),
  );

async function answer(
  door: RpcDoor,
  request: Request,
  response: Response,
  { maxDepth, limits, count, fail }: Omit<RpcDeps, "doors">,
): Promise<Reply> {
  const context = contextOf(response);
  const { id: requestId, client } = context;
  const bounds = { maxBytes: door.maxBytes, maxDepth: maxDepth + ENVELOPE_LEVELS, limits, context };
  const reply = await door.handle({
    headers: request.headers,
    read: () => readRequestText(request, bounds),
    admit: (isPaying) => limits.take(client, isPaying ? "paying" : "unpaid"),
    requestId,
    client,
    version1: isVersion1(request),
    signal: disconnectSignal(response),
  });
  if (door.name && reply.status === 429 && reply.calls.every(({ service }) => service === door.name))
    count?.({ service: "", door: door.name, rail: "", what: "failed:rate-limited" });
  for (const call of reply.calls) note(context, call);
  for (const { problem } of reply.calls) if (problem) fail(response, problem);
  // Calls with a problem are left out: paid work that is not delivered has its receipt in each answer.
  const bought = reply.calls.filter(({ receipt, problem, isRepeat }) => receipt?.success && !problem && !isRepeat);
  if (bought.length > 0) {
    limits.giveBack(client, "paying", bought.length);
    limits.giveBack(client, "bytes", context.bodyBytes);
  }
  return toReply(reply);
}

function note(context: RequestContext, call: DoorCall): void {
  const { service, challenge, receipt, problem } = call;
  context.service = service;
  noteReceipt(context, receipt, call);
  context.code = problem?.code ?? (challenge ? "payment-required" : undefined);
}

function toReply({ status, headers, body }: DoorReply): Reply {
  const { "content-type": type = "application/json", "cache-control": cache = "no-store", ...own } = headers;
  const data = body === undefined ? [] : toDataHeaders(type, cache);
  return { status, headers: [...data, ...Object.entries(own).flat()], ...(body !== undefined && { body }) };
}
