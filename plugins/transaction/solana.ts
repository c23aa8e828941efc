import { Problem, type Upstream } from "#plugin";
import { type ProgramCall, toProgramCalls } from "./program-calls.ts";
import { getTransaction, type Landed } from "./solana-node.ts";

/** The Solana fields of schemas/TxDecodeResponse.json. */
export interface SolanaFields {
  readonly slot: number;
  /** Unix seconds; null for old blocks without a time. */
  readonly block_time: number | null;
  /** Null, like `status`, when the node keeps no record of the execution. */
  readonly fee_lamports: number | null;
  readonly status: "success" | "failed" | null;
  /** The fee payer first. */
  readonly signers: string[];
  readonly program_calls: ProgramCall[];
  readonly native_currency: "SOL";
}

/**
 * Reads a transaction of commitment `confirmed` or higher; undefined when the node does not know the signature.
 * @throws Problem `upstream-failed`; `unparseable-input` for a version above 0.
 */
export async function readSolana(
  node: Upstream,
  signature: string,
  signal: AbortSignal,
): Promise<SolanaFields | undefined> {
  const landed = await getTransaction(node, [signature, OPTIONS], signal);
  if (!landed || landed.transaction.signatures[0] === signature) return landed && toFields(landed);
  throw new Problem("upstream-failed", `${node.title} answered with another transaction`);
}

/** `json`, not `jsonParsed`: what a node parses depends on its version. */
const OPTIONS = { encoding: "json", commitment: "confirmed", maxSupportedTransactionVersion: 0 };

function toFields(landed: Landed): SolanaFields {
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
