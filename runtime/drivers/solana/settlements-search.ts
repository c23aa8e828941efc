import type {
  ConfirmedSignatureInfo,
  Connection,
  VersionedMessage,
  VersionedTransactionResponse,
} from "@solana/web3.js";
import { sha256 } from "../../core/digest.ts";
import { MEMO_PROGRAM } from "./programs.ts";

export interface SearchResult {
  readonly landed?: VersionedTransactionResponse;
  /** Whether everything since the given slot was searched, so that "not found" is meaningful. */
  readonly isComplete: boolean;
}

/** The entries of one request; the RPC's own limit. */
const PAGE = 1000;
/** How many transactions one search fetches, and how many concurrently. */
const MOST = 500;
const BATCH = 10;
/** How many transactions are remembered. */
const MOST_SEEN = 20_000;

/** The newest version of a payment's transaction. */
const CONFIRMED = { commitment: "confirmed", maxSupportedTransactionVersion: 0 } as const;
/** The code of a node's refusal to show a transaction of a newer version. */
const NEWER_VERSION = -32015;

/** Where a search begins: in slots, so that no clock matters. */
export interface SearchStart {
  readonly since: number;
  /** A node that has not reached this slot refuses to answer, because it would not know the newest transactions. */
  readonly minContextSlot: number;
}

/**
 * The messages of transactions that were fetched, as digests by signature. The next search goes on with what this one did
 * not reach, and does not ask again for the rest.
 */
export type SeenMessages = Map<string, string>;

/**
 * Searches the payer's transactions, the newest first, for the one with exactly this message. The payer is the second
 * signer, after the fee payer. @throws Error when the node lists a transaction that it lacks.
 */
export async function searchMessage(
  node: Connection,
  message: VersionedMessage,
  { since, minContextSlot }: SearchStart,
  seen: SeenMessages,
): Promise<SearchResult> {
  const payer = message.staticAccountKeys[message.header.numRequiredSignatures > 1 ? 1 : 0]!;
  const wanted = sha256(message.serialize());
  const memo = memoOf(message);
  const mayBeIt = ({ signature }: ConfirmedSignatureInfo): boolean => (seen.get(signature) ?? wanted) === wanted;
  let left = MOST;
  for (let before: string | undefined; ; ) {
    const options = { limit: PAGE, minContextSlot, ...(before && { before }) };
    const page = await node.getSignaturesForAddress(payer, options, "confirmed");
    const recent = page.filter(({ slot }) => slot >= since);
    const candidates = recent.filter((listed) => mayHold(listed, memo) && mayBeIt(listed)).slice(0, left);
    left -= candidates.length;
    for (let at = 0; at < candidates.length; at += BATCH) {
      const batch = candidates.slice(at, at + BATCH);
      const fetched = await Promise.all(batch.map(({ signature }) => fetchTransaction(node, signature)));
      const digests = fetched.map((one) => (one ? sha256(one.transaction.message.serialize()) : ""));
      for (const [index, { signature }] of batch.entries()) remember(seen, signature, digests[index] as string);
      const landed = fetched[digests.indexOf(wanted)];
      if (landed) return { landed, isComplete: true };
    }
    if (left === 0) return { isComplete: false };
    before = page.at(-1)?.signature;
    if (page.length < PAGE || recent.length < page.length) return { isComplete: true };
  }
}

function remember(seen: SeenMessages, signature: string, digest: string): void {
  seen.set(signature, digest);
  const [oldest = signature] = seen.keys();
  if (seen.size > MOST_SEEN) seen.delete(oldest);
}

/** A transaction by its signature, if it has landed and has exactly this message. */
export async function readLanded(
  node: Connection,
  message: VersionedMessage,
  signature: string,
): Promise<VersionedTransactionResponse | undefined> {
  const landed = await node.getTransaction(signature, CONFIRMED).catch(() => null); // It may be no signature at all.
  const isIt = landed?.meta && Buffer.from(landed.transaction.message.serialize()).equals(message.serialize());
  return isIt ? landed : undefined;
}

/** The memo that x402 clients add to make each payment unique. */
function memoOf({ compiledInstructions, staticAccountKeys }: VersionedMessage): string | undefined {
  const isMemo = (index: number): boolean => staticAccountKeys[index]?.toBase58() === MEMO_PROGRAM;
  const instruction = compiledInstructions.find(({ programIdIndex }) => isMemo(programIdIndex));
  return instruction && Buffer.from(instruction.data).toString("utf8");
}

/** Whether a listed transaction must be fetched: not when the list shows another memo. */
const mayHold = ({ memo: listed }: ConfirmedSignatureInfo, memo: string | undefined): boolean =>
  listed === null || memo === undefined || listed.includes(memo);

/** Undefined for one of a newer version, which is no payment. */
async function fetchTransaction(
  node: Connection,
  signature: string,
): Promise<VersionedTransactionResponse | undefined> {
  const response = await node.getTransaction(signature, CONFIRMED).catch((error: { readonly code?: unknown }) => {
    if (error.code !== NEWER_VERSION) throw error;
    return undefined;
  });
  if (response === undefined) return undefined;
  if (!response?.meta) throw new Error(`The node does not have transaction ${signature}`);
  return response;
}
