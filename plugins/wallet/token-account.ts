import { Problem, type Upstream } from "#plugin";
import { readTokenOwner } from "./names/sol/accounts.ts";

/** How long the node is waited for. */
const PATIENCE_MS = 2000;

/**
 * Refuses a Solana token account, which transactions name beside its wallet: it only holds tokens of the wallet, and the
 * services describe wallets. While the node does not answer, every address passes.
 * @throws Problem `unparseable-input`; the signal's reason.
 */
export async function refuseTokenAccount(node: Upstream, key: string, signal: AbortSignal): Promise<void> {
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
  const owner = await readTokenOwner(node, key, bounded).catch(() => undefined);
  signal.throwIfAborted();
  if (owner === undefined) return;
  throw new Problem("unparseable-input", `${key} is a token account of the wallet ${owner}: ask about the wallet`);
}
