import type { Upstream } from "#plugin";
import { QUANTITY, readBlock, toQuantity } from "../../base-blocks.ts";
import { askNode, toMisfit } from "../../node.ts";

/**
 * When the address first sent a transaction or was created as a contract (Unix seconds): a binary search for the block in
 * which its nonce left zero. Null when it never did. @throws Problem `upstream-failed`, also when the node has pruned old state.
 */
export async function readFirstSent(node: Upstream, address: string, signal: AbortSignal): Promise<number | null> {
  const hasSent = async (block: bigint | "latest"): Promise<boolean> => {
    const method = "eth_getTransactionCount";
    const count = await askNode(node, [method, [address, block === "latest" ? block : toQuantity(block)]], signal);
    if (typeof count !== "string" || !QUANTITY.test(count)) throw toMisfit(node, method);
    return BigInt(count) > 0n;
  };
  if (!(await hasSent("latest"))) return null;
  let [before, since] = [-1n, (await readBlock(node, "latest", signal)).number];
  while (since - before > 1n) {
    const middle = (before + since) / 2n;
    if (await hasSent(middle)) since = middle;
    else before = middle;
  }
  return (await readBlock(node, since, signal)).at;
}
