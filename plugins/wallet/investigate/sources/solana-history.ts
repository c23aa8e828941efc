import PQueue from "p-queue";
import type { Upstream } from "#plugin";
import { toJsonFields } from "../../fields.ts";
import { USDC_ON_SOLANA } from "../../intel/solana-reads.ts";
import { askNode, toMisfit } from "../../node.ts";
import { readSolanaTransfers } from "./solana-transfers.ts";
import { type Depth, type HistorySource, mergeTransfers } from "./transfers.ts";

/** How many pages of 1000 signatures are listed, and how many of the newest and of the oldest transactions are read. */
interface Bounds {
  readonly pages: number;
  readonly newest: number;
  readonly oldest: number;
}

const BOUNDS: Readonly<Record<Depth, Bounds>> = {
  subject: { pages: 10, newest: 400, oldest: 10 },
  counterparty: { pages: 1, newest: 15, oldest: 0 },
};
const PAGE = 1000;
const AT_ONCE = 4;
/** The maximum number of a wallet's USDC accounts; most wallets have one. */
const MOST_ACCOUNTS = 3;
const CONFIRMED = { commitment: "confirmed" } as const;

interface Signature {
  readonly signature: string;
  readonly slot: number;
  /** Unix seconds; null when the node does not know it. */
  readonly blockTime: number | null;
}

/** SOL and USDC transfers from the transactions that name a wallet or its USDC accounts. */
export const createSolanaHistory = (node: Upstream): HistorySource => ({
  title: node.title,
  async read(address, depth, signal) {
    const bounds = BOUNDS[depth];
    const accounts = await readUsdcAccounts(node, address, signal);
    const lists = await Promise.all(
      [address, ...accounts].map((account) => listSignatures(node, account, bounds.pages, signal)),
    );
    const signatures = newestFirst(lists.flat());
    const isListed = lists.every((list) => list.length < bounds.pages * PAGE);
    const chosen = choose(signatures, bounds);
    const queue = new PQueue({ concurrency: AT_ONCE });
    const read = await queue.addAll(chosen.map((each) => () => readTransaction(node, each, signal)));
    return {
      transfers: mergeTransfers(
        read.map((transaction, at) => readSolanaTransfers(transaction, address, chosen[at] as Signature)),
      ),
      coverage: `${node.title}: ${chosen.length} of ${isListed ? "" : "more than "}${signatures.length} transactions on Solana were read.`,
      isWhole: isListed && chosen.length === signatures.length,
      labels: [],
      firstSeenAt: isListed ? (signatures.at(-1)?.blockTime ?? null) : null,
    };
  },
});

async function readUsdcAccounts(node: Upstream, wallet: string, signal: AbortSignal): Promise<string[]> {
  const method = "getTokenAccountsByOwner";
  const parameters = [wallet, { mint: USDC_ON_SOLANA }, { encoding: "base64", ...CONFIRMED }];
  const { value } = toJsonFields(await askNode(node, [method, parameters], signal));
  if (!Array.isArray(value)) throw toMisfit(node, method);
  const keys = value.map((found: unknown) => toJsonFields(found).pubkey);
  return keys.filter((key) => typeof key === "string").slice(0, MOST_ACCOUNTS);
}

async function listSignatures(
  node: Upstream,
  account: string,
  pages: number,
  signal: AbortSignal,
): Promise<Signature[]> {
  const method = "getSignaturesForAddress";
  const all: Signature[] = [];
  for (let page = 0; page < pages; page += 1) {
    const before = all.at(-1)?.signature;
    const options = { limit: PAGE, ...CONFIRMED, ...(before !== undefined && { before }) };
    const found = await askNode(node, [method, [account, options]], signal);
    if (!Array.isArray(found) || !found.every(isSignature)) throw toMisfit(node, method);
    all.push(...found);
    if (found.length < PAGE) break;
  }
  return all;
}

const isSignature = (value: unknown): value is Signature => {
  const { signature, slot, blockTime } = toJsonFields(value);
  return (
    typeof signature === "string" &&
    Number.isSafeInteger(slot) &&
    (blockTime === null || Number.isSafeInteger(blockTime))
  );
};

/** Without duplicates, newest first; within a slot in the node's order. */
function newestFirst(signatures: readonly Signature[]): Signature[] {
  const unique = new Map(signatures.map((each) => [each.signature, each]));
  return [...unique.values()].sort((one, other) => other.slot - one.slot);
}

function choose(signatures: readonly Signature[], { newest, oldest }: Bounds): Signature[] {
  if (signatures.length <= newest + oldest) return [...signatures];
  return [...signatures.slice(0, newest), ...(oldest > 0 ? signatures.slice(-oldest) : [])];
}

function readTransaction(node: Upstream, { signature }: Signature, signal: AbortSignal): Promise<unknown> {
  const options = { encoding: "json", maxSupportedTransactionVersion: 0, ...CONFIRMED };
  return askNode(node, ["getTransaction", [signature, options]], signal);
}
