import { Problem, type Upstream } from "#plugin";

/**
 * Calls a JSON-RPC method that should never be refused.
 * @throws Problem `upstream-failed` when the node refuses it or cannot be reached; the signal's reason.
 */
export async function askNode(
  node: Upstream,
  [method, params]: readonly [method: string, params: readonly unknown[]],
  signal: AbortSignal,
): Promise<unknown> {
  const { result, error } = await node.rpc(method, params, { signal });
  if (error) throw new Problem("upstream-failed", `${node.title} refused ${method}`, { cause: error });
  return result;
}

/** The error for an answer of the wrong shape. */
export const toMisfit = ({ title }: Upstream, method: string): Problem =>
  new Problem("upstream-failed", `${title} answered ${method} with something else`);
