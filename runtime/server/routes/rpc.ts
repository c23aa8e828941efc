import type { Request, Response } from "express";
import type { SiteManifest } from "../../core/set/manifest.ts";
import { readPaymentHeaders } from "../../surfaces/http/payment-headers.ts";
import type { DoorReply, RpcDoor } from "../../surfaces/rpc/door.ts";
import { toDataHeaders } from "../reply/headers.ts";
import type { Reply } from "../reply/reply.ts";
import { contextOf, disconnectSignal } from "../request/context.ts";
import { readRequestText } from "../request/input.ts";
import type { Limits } from "../request/limits.ts";
import type { Methods } from "./resource.ts";

export interface RpcDeps {
  readonly doors: ReadonlyMap<string, RpcDoor>;
  readonly bounds: Pick<SiteManifest["limits"], "body_bytes" | "body_depth">;
  readonly limits: Pick<Limits, "forgive">;
  /** Logs failures on our side. */
  readonly fail: (id: string, error: unknown) => void;
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
  { bounds, limits, fail }: Omit<RpcDeps, "doors">,
): Promise<Reply> {
  const context = contextOf(response);
  const { id: requestId, client } = context;
  const { headers } = request;
  const signal = disconnectSignal(response);
  const body = await readRequestText(request, bounds);
  const reply = await door.handle({ headers, body, requestId, client, signal });
  for (const { service, challenge, receipt, problem } of reply.calls) {
    context.service = service;
    context.payer = receipt?.payer;
    context.network = receipt?.network;
    context.transaction = receipt?.transaction || undefined;
    context.code = problem?.code ?? (challenge ? "payment-required" : undefined);
    if (receipt?.success) limits.forgive(client, readPaymentHeaders(headers) !== undefined);
    if (problem && problem.status >= 500) fail(requestId, problem.options.cause ?? problem);
  }
  return toReply(reply);
}

function toReply({ status, headers, body }: DoorReply): Reply {
  const { "content-type": type = "application/json", "cache-control": cache = "no-store", ...own } = headers;
  const data = body === undefined ? [] : toDataHeaders(type, cache);
  return { status, headers: [...data, ...Object.entries(own).flat()], ...(body !== undefined && { body }) };
}
