import { Problem, toValueError, type Upstream } from "#plugin";
import { readTokenOwner } from "./names/sol-accounts.ts";

/** How long the node is waited for. */
const PATIENCE_MS = 2000;

/**
 * Refuses a token account of Solana, which transactions name beside its wallet: it holds the wallet's tokens, and what is read
 * of a wallet is not its. That the node does not tell is no sign. @throws Problem `invalid-input`; the signal's reason.
 */
export async function refuseTokenAccount(
  node: Upstream,
  { key, field }: { readonly key: string; readonly field: string },
  signal: AbortSignal,
): Promise<void> {
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
  const owner = await readTokenOwner(node, key, bounded).catch(() => undefined);
  signal.throwIfAborted();
  if (owner === undefined) return;
  const error = `${field} is a token account, which belongs to the wallet ${owner}: ask about the wallet`;
  throw new Problem("invalid-input", undefined, { issues: [toValueError(error, key, field)] });
}
