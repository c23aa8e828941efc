import type { Clock, Upstream } from "#plugin";
import { isBehind, readBlock, toBehind } from "../base-blocks.ts";

/** How long a node's newest block is waited for. */
const PATIENCE_MS = 2000;

/**
 * What was read from a Base node, unless that is behind its chain. A newest block that cannot be read is no sign of it.
 * @throws Problem `upstream-failed` for a node that is behind; what the reading throws.
 */
export async function whileCurrent<T>(
  node: Upstream,
  reading: Promise<T>,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<T> {
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
  const newest = readBlock(node, "latest", bounded).catch(() => undefined);
  const [value, latest] = await Promise.all([reading, newest]);
  if (latest && isBehind(latest, clock.now())) throw toBehind(node, latest);
  return value;
}
