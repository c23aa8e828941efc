import type { Clock, Upstream } from "#plugin";
import { isBehind, isOld, readBlock, toBehind } from "../base-blocks.ts";
import { toJsonFields } from "../fields.ts";

/** How long a node's newest block is waited for. */
const PATIENCE_MS = 2000;

/** How a node that is behind is known. */
export interface CurrentTerms {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * What was read from a Base node, unless that is behind its chain. A newest block that cannot be read is no sign of it.
 * @throws Problem `upstream-failed` for a node that is behind; what the reading throws.
 */
export async function whileCurrent<T>(
  node: Upstream,
  reading: Promise<T>,
  { clock, signal }: CurrentTerms,
): Promise<T> {
  const newest = readBlock(node, "latest", toBounded(signal)).catch(() => undefined);
  const [value, latest] = await Promise.all([reading, newest]);
  if (latest && isBehind(latest, clock.now())) throw toBehind(node, latest);
  return value;
}

/**
 * Refuses an answer of a Solana node that is behind its chain, by the time of the slot that the answer names. A time that
 * cannot be read is no sign of it. @throws Problem `upstream-failed`; the signal's reason.
 */
export async function refuseOld(node: Upstream, answer: unknown, { clock, signal }: CurrentTerms): Promise<void> {
  const { slot } = toJsonFields(toJsonFields(answer).context);
  const { result: at } = await node.rpc("getBlockTime", [slot], { signal: toBounded(signal) }).catch(() => NO_ANSWER);
  signal.throwIfAborted();
  if (typeof at === "number" && isOld(at, clock.now())) throw toBehind(node, { at });
}

const NO_ANSWER = { result: null };

const toBounded = (signal: AbortSignal): AbortSignal => AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
