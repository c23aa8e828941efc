import { Problem, type Upstream } from "#plugin";
import type { ChainFields } from "./chain-fields.ts";
import { toProgramCalls } from "./program-calls.ts";
import { getTransaction, type Landed } from "./solana-node.ts";

/**
 * Reads a transaction of commitment `confirmed` or higher; undefined when the node does not know the signature.
 * @throws Problem `upstream-failed`; `unparseable-input` for a version above 1.
 */
export async function readSolana(
  node: Upstream,
  signature: string,
  signal: AbortSignal,
): Promise<ChainFields | undefined> {
  const landed = await getTransaction(node, [signature, OPTIONS], signal);
  if (!landed || landed.transaction.signatures[0] === signature) return landed && toFields(landed);
  throw new Problem("upstream-failed", `${node.title} answered with another transaction`);
}

/** `json`, not `jsonParsed`: what a node parses depends on its version. */
const OPTIONS = { encoding: "json", commitment: "confirmed", maxSupportedTransactionVersion: 1 };

function toFields(landed: Landed): ChainFields {
  const { slot, blockTime, transaction, meta } = landed;
  const { accountKeys, header } = transaction.message;
  return {
    slot,
    block_time: blockTime ?? null,
    fee_lamports: meta?.fee ?? null,
    status: meta && (meta.err === null ? "success" : "failed"),
    signers: accountKeys.slice(0, header.numRequiredSignatures),
    program_calls: toProgramCalls(landed),
    native_currency: "SOL",
  };
}
