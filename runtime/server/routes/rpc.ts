import type { Request, Response } from "express";
import type { Problem } from "../../api/problem.ts";
import type { SiteManifest } from "../../core/set/manifest.ts";
import type { SettleResponse } from "../../core/x402/x402.ts";
import type { Reply } from "../reply/reply.ts";
import { disconnectSignal, exchangeOf } from "../request/exchange.ts";
import { toDataHeaders } from "../request/headers.ts";
import { readText } from "../request/input.ts";
import type { Limits } from "../request/limits.ts";
import type { Methods } from "./resource.ts";
import { isPaying } from "./rest.ts";

/** A JSON-RPC endpoint as a function of text: MCP, A2A. It never rejects. */
export interface RpcDoor {
  handle(request: RpcRequest): Promise<RpcReply>;
}

/** A POST at a JSON-RPC endpoint, its body read as text. */
export interface RpcRequest {
  readonly method: "POST";
  /** By lower-cased name. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  readonly requestId: string;
  /** Whose request it is: the key of an address, as the limits count it. */
  readonly client: string;
  /** Aborted when the caller is gone. */
  readonly signal: AbortSignal;
}

/** The answer to it, with what is to be noted of it. */
export interface RpcReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The services that were called, for the log and the limits. */
  readonly calls?: readonly RpcCall[];
}

/** How one call of a service ended. */
export interface RpcCall {
  readonly service: string;
  readonly challenge?: unknown;
  readonly receipt?: SettleResponse;
  readonly problem?: Problem;
}

export interface RpcDeps {
  readonly doors: ReadonlyMap<string, RpcDoor>;
  readonly bounds: Pick<SiteManifest["limits"], "body_bytes" | "body_depth">;
  readonly limits: Pick<Limits, "forgive">;
  /** Takes what went wrong on our side. */
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
  deps: Omit<RpcDeps, "doors">,
): Promise<Reply> {
  const { bounds, limits, fail } = deps;
  const exchange = exchangeOf(response);
  const { id: requestId, client } = exchange;
  const signal = disconnectSignal(response);
  const body = await readText(request, bounds);
  const { calls = [], ...reply } = await door.handle({
    method: "POST",
    headers: request.headers,
    body,
    requestId,
    client,
    signal,
  });
  for (const { service, challenge, receipt, problem } of calls) {
    exchange.service = service;
    exchange.payer = receipt?.payer;
    exchange.network = receipt?.network;
    exchange.transaction = receipt?.transaction || undefined;
    exchange.code = problem?.code ?? (challenge ? "payment-required" : undefined);
    if (receipt?.success) limits.forgive(client, isPaying(request));
    if (problem && problem.status >= 500) fail(requestId, problem.options.cause ?? problem);
  }
  return toReply(reply);
}

function toReply({ status, headers, body }: Omit<RpcReply, "calls">): Reply {
  const { "content-type": type = "application/json", "cache-control": cache = "no-store", ...own } = headers;
  const data = body === undefined ? [] : toDataHeaders(type, cache);
  return { status, headers: [...data, ...Object.entries(own).flat()], ...(body !== undefined && { body }) };
}
