import type { EvmTransaction, Plugins } from "#plugin";
import type { SignatureCheck } from "./signatures.ts";

/** The anchor fields of a verification. */
type Anchored = Pick<
  Plugins["attest"]["verify"]["output"],
  "anchor_confirmed" | "root_matches" | "anchored_at_block" | "anchored_at_time"
>;

const ONE_HASH = /^0x[0-9a-f]{64}$/i;

/** Compares a mined transaction with `root` (64 lower-case hex); `transaction` is undefined when Base does not have it. */
export function toAnchored(transaction: EvmTransaction | undefined, root: string): Anchored {
  const isAnchor = transaction?.status === "success" && ONE_HASH.test(transaction.input);
  return {
    anchor_confirmed: isAnchor,
    root_matches: transaction?.input.toLowerCase() === `0x${root}`,
    anchored_at_block: isAnchor ? Number(transaction.blockNumber) : null,
    anchored_at_time: isAnchor ? transaction.blockTime : null,
  };
}

/** Two sentences: one about the signature, one about the anchor. */
export function toVerificationNotes(
  signed: SignatureCheck,
  named: string | undefined,
  anchored: Anchored,
  transaction: EvmTransaction | undefined,
): string {
  return `${aboutSignature(signed, named)} ${aboutAnchor(anchored, transaction)}`;
}

function aboutSignature({ valid, signer }: SignatureCheck, named: string | undefined): string {
  if (valid) return `The signature is ${signer}'s.`;
  if (named !== undefined && signer !== named) return `The signature is not ${named}'s.`;
  return "The signature does not verify.";
}

function aboutAnchor({ anchor_confirmed, root_matches }: Anchored, transaction: EvmTransaction | undefined): string {
  if (!transaction)
    return "The Base node knows no such transaction: there is none, or it is too new, or too old for the node's history.";
  if (transaction.status === "reverted") return "The Base transaction was reverted.";
  if (!anchor_confirmed) return "The Base transaction is no anchor: its calldata is not one hash of 32 bytes.";
  if (!root_matches) return "The Base transaction anchors another root: a field differs from what was attested.";
  const time = new Date(transaction.blockTime * 1000).toISOString();
  return `Base carries the root since block ${transaction.blockNumber} (${time}), sent by ${transaction.from}.`;
}
