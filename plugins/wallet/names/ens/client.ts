import type { Client } from "viem";
import { type Host, Problem, type Upstream } from "#plugin";
import { createGateways, type Lookup, toBusyGateway } from "./gateways.ts";

/**
 * Runs work with a viem client for Ethereum. Contract reverts reach the work as viem's errors.
 * @throws Problem `upstream-failed` when a node or a gateway failed, even if viem wrapped the failure; the signal's
 *   reason.
 */
export type AskEthereum = <T>(signal: AbortSignal, work: (client: Client) => Promise<T>) => Promise<T>;

/** viem is loaded on first use. */
export function createAskEthereum({ upstream, web }: Pick<Host, "upstream" | "web">): AskEthereum {
  const node = upstream("ethereum");
  return async (signal, work) => {
    const { BaseError, createClient, custom, HttpRequestError } = await import("viem");
    const failures: unknown[] = [];
    const noted = (error: unknown): never => {
      failures.push(error);
      throw error;
    };
    const gateways = createGateways(web, signal);
    const client = createClient({
      transport: custom({ request: (call) => request(node, call, signal).catch(noted) }, { retryCount: 0 }),
      ccipRead: { request: (lookup: Lookup) => gateways(lookup).catch(noted) },
    });
    try {
      return await work(client);
    } catch (error) {
      signal.throwIfAborted();
      const problem = failures.find((failure) => failure instanceof Problem) ?? error;
      if (!(problem instanceof BaseError)) throw problem;
      // All requests are made here: viem's own error of one is its limit of lookups.
      if (problem.walk((cause) => cause instanceof HttpRequestError)) throw toBusyGateway(error);
      throw new Problem("upstream-failed", `${node.title} could not answer for ENS`, { cause: error });
    }
  };
}

/** Throws a node's refusal in the form that viem expects: with `code` and the revert `data`. */
async function request(
  node: Upstream,
  { method, params }: { method: string; params?: readonly unknown[] },
  signal: AbortSignal,
): Promise<unknown> {
  const { result, error } = await node.rpc(method, params ?? [], { signal });
  if (error) throw Object.assign(new Error(error.message), { code: error.code, data: error.data });
  return result;
}
