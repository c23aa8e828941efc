import { Problem, type Upstream } from "#plugin";

/**
 * What a chain's node answers to a call that it has no reason to refuse.
 * @throws Problem `upstream-failed` when it refuses all the same, or could not be asked; the signal's reason.
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

/** For an answer of another shape than the method's. */
export const toMisfit = ({ title }: Upstream, method: string): Problem =>
  new Problem("upstream-failed", `${title} answered ${method} with something else`);
