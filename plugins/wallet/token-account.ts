import { Problem, type Upstream } from "#plugin";
import { readTokenOwner } from "./names/sol-accounts.ts";

/** How long the node is waited for. */
const PATIENCE_MS = 2000;

/**
 * Refuses a token account of Solana, which transactions name beside its wallet: it holds the wallet's tokens, and what is read
 * of a wallet is not its. That the node does not tell is no sign. @throws Problem `unparseable-input`; the signal's reason.
 */
export async function refuseTokenAccount(node: Upstream, key: string, signal: AbortSignal): Promise<void> {
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
  const owner = await readTokenOwner(node, key, bounded).catch(() => undefined);
  signal.throwIfAborted();
  if (owner === undefined) return;
  throw new Problem("unparseable-input", `${key} is a token account of the wallet ${owner}: ask about the wallet`);
}
