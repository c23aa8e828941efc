import type { Upstream } from "#plugin";
import { toJsonFields } from "../../fields.ts";
import { askNode, toMisfit } from "../../node.ts";

/** A signature in a node's list. */
export interface Signature {
  readonly signature: string;
  readonly slot: number;
  /** Unix seconds; null when the node does not know it. */
  readonly blockTime: number | null;
}

const PAGE = 1000;
const CONFIRMED = { commitment: "confirmed" } as const;

/**
 * Lists the signatures that name an account, in pages of 1000. `isEnded`: the node has no more of them. @throws the
 * errors of `askNode`.
 */
export async function listSignatures(
  node: Upstream,
  account: string,
  { pages, signal }: { readonly pages: number; readonly signal: AbortSignal },
): Promise<{ readonly signatures: Signature[]; readonly isEnded: boolean }> {
  const method = "getSignaturesForAddress";
  const signatures: Signature[] = [];
  for (let page = 0; page < pages; page += 1) {
    const before = signatures.at(-1)?.signature;
    const options = { limit: PAGE, ...CONFIRMED, ...(before !== undefined && { before }) };
    const found = await askNode(node, [method, [account, options]], signal);
    if (!Array.isArray(found) || !found.every(isSignature)) throw toMisfit(node, method);
    signatures.push(...found.map(({ signature, slot, blockTime }) => ({ signature, slot, blockTime })));
    if (found.length < PAGE) return { signatures, isEnded: true };
  }
  return { signatures, isEnded: false };
}

const isSignature = (value: unknown): value is Signature => {
  const { signature, slot, blockTime } = toJsonFields(value);
  return (
    typeof signature === "string" &&
    Number.isSafeInteger(slot) &&
    (blockTime === null || Number.isSafeInteger(blockTime))
  );
};

/** Signatures without duplicates, newest first; within a slot, in the node's order. */
export function newestFirst(signatures: readonly Signature[]): Signature[] {
  const unique = new Map(signatures.map((each) => [each.signature, each]));
  return [...unique.values()].sort((one, other) => other.slot - one.slot);
}
