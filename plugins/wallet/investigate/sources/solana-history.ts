import PQueue from "p-queue";
import { Problem, type Upstream } from "#plugin";
import { toJsonFields } from "../../fields.ts";
import { USDC_ON_SOLANA } from "../../intel/solana-reads.ts";
import { askNode, toMisfit } from "../../node.ts";
import { toFailure } from "./failure.ts";
import { listSignatures, newestFirst, type Signature } from "./solana-signatures.ts";
import { readSolanaTransfers } from "./solana-transfers.ts";
import { type Depth, type HistorySource, mergeTransfers, type Reading, type Transfer } from "./transfers.ts";

/** How many pages of 1000 signatures are listed, and how many of the newest and of the oldest transactions are read. */
interface SolanaBounds {
  readonly pages: number;
  readonly newest: number;
  readonly oldest: number;
}

const BOUNDS: Readonly<Record<Depth, SolanaBounds>> = {
  subject: { pages: 10, newest: 1000, oldest: 20 },
  counterparty: { pages: 1, newest: 15, oldest: 0 },
};
/** How many transactions one step reads. */
const PER_STEP = 50;
const AT_ONCE = 4;
/** How many of a wallet's USDC accounts are read. Most wallets have one, but anybody can open more for any wallet. */
const MOST_ACCOUNTS = 16;
const CONFIRMED = { commitment: "confirmed" } as const;

/**
 * SOL and USDC transfers from the transactions that name a wallet or its USDC accounts. Transactions that could not be
 * read are a gap. A node that has pruned old transactions does not list them, so only a node with the first block can
 * tell the age.
 */
export const createSolanaHistory = (node: Upstream): HistorySource => ({
  title: node.title,
  async read(address, reading) {
    const { depth, signal, step } = reading;
    const bounds = BOUNDS[depth];
    const listing = await step("signatures", () => list(node, address, { bounds, depth, signal }));
    const { signatures, isListed, accounts, unread } = listing;
    const chosen = choose(signatures, bounds);
    const read = await readInSteps(node, address, { chosen, ...reading });
    const isRead = read.failed === 0 && chosen.length === signatures.length;
    const oldestAt = signatures.at(-1)?.blockTime ?? null;
    const why = read.failed > 0 ? `: ${read.why}` : "";
    return {
      transfers: read.transfers,
      coverage: `${node.title}: ${chosen.length - read.failed} of ${isListed ? "" : "at least "}${signatures.length} transactions on Solana were read.`,
      isWhole: isListed && isRead,
      gaps: [
        ...(read.failed > 0 ? [`${read.failed} of its transactions could not be read${why}`] : []),
        ...(unread > 0 ? [`${unread} of its ${accounts} USDC accounts were not read`] : []),
      ],
      labels: [],
      firstSeenAt: isListed ? oldestAt : null,
      oldestAt,
      sent: null,
      listed: signatures.length,
    };
  },
});

interface Listing extends Pick<Reading, "depth" | "signal"> {
  readonly bounds: SolanaBounds;
}

interface Listed {
  readonly signatures: Signature[];
  readonly isListed: boolean;
  /** How many USDC accounts the node lists, and how many of them were not read. */
  readonly accounts: number;
  readonly unread: number;
}

/**
 * Lists the signatures of a wallet and of its USDC accounts. A node does not list closed accounts, but knows their
 * signatures. So the subject's usual account is always asked for: transfers to it need not name the wallet.
 */
async function list(node: Upstream, address: string, { bounds: { pages }, depth, signal }: Listing): Promise<Listed> {
  const all = await readUsdcAccounts(node, address, signal);
  const usual = depth === "subject" ? [await toUsdcAccount(address)] : [];
  const keys = new Set([address, ...all.slice(0, MOST_ACCOUNTS), ...usual]);
  const unread = all.filter((key) => !keys.has(key)).length;
  const lists = await Promise.all([...keys].map((key) => listSignatures(node, key, { pages, signal })));
  const isListed = unread === 0 && lists.every(({ isEnded }) => isEnded) && (await keepsAll(node, signal));
  return {
    signatures: newestFirst(lists.flatMap(({ signatures }) => signatures)),
    isListed,
    accounts: all.length,
    unread,
  };
}

/** Whether the node has every transaction since the first block. A node that does not say so counts as pruned. */
async function keepsAll(node: Upstream, signal: AbortSignal): Promise<boolean> {
  const { result } = await node.rpc("getFirstAvailableBlock", [], { signal });
  return result === 0;
}

async function readUsdcAccounts(node: Upstream, wallet: string, signal: AbortSignal): Promise<string[]> {
  const method = "getTokenAccountsByOwner";
  const parameters = [wallet, { mint: USDC_ON_SOLANA }, { encoding: "base64", ...CONFIRMED }];
  const { value } = toJsonFields(await askNode(node, [method, parameters], signal));
  if (!Array.isArray(value)) throw toMisfit(node, method);
  const keys = value.map((found: unknown) => toJsonFields(found).pubkey);
  return keys.filter((key) => typeof key === "string");
}

const TOKEN_PROGRAM = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
const ASSOCIATED_TOKEN_PROGRAM = "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL";

/** The account in which wallets keep their USDC, whether it is open or not: its address follows from the wallet's. */
async function toUsdcAccount(wallet: string): Promise<string> {
  const { PublicKey } = await import("@solana/web3.js"); // Loaded on first use.
  const seeds = [wallet, TOKEN_PROGRAM, USDC_ON_SOLANA].map((key) => new PublicKey(key).toBuffer());
  return PublicKey.findProgramAddressSync(seeds, new PublicKey(ASSOCIATED_TOKEN_PROGRAM))[0].toBase58();
}

function choose(signatures: readonly Signature[], { newest, oldest }: SolanaBounds): Signature[] {
  if (signatures.length <= newest + oldest) return [...signatures];
  return [...signatures.slice(0, newest), ...(oldest > 0 ? signatures.slice(-oldest) : [])];
}

interface Chosen extends Reading {
  readonly chosen: readonly Signature[];
}

/** The transfers in some transactions. Plain JSON, because a job step stores it. */
interface ReadPart {
  readonly transfers: readonly Transfer[];
  /** How many transactions could not be read, and the reason for one of them. */
  readonly failed: number;
  readonly why: string;
}

/** @throws Problem `upstream-failed` when none could be read. */
async function readInSteps(node: Upstream, wallet: string, { chosen, step, signal }: Chosen): Promise<ReadPart> {
  const parts: ReadPart[] = [];
  for (let start = 0; start < chosen.length; start += PER_STEP) {
    const some = chosen.slice(start, start + PER_STEP);
    const part = await step(`transactions ${parts.length + 1}`, () => readSome(node, wallet, some, signal)).catch(
      toFailure,
    );
    signal.throwIfAborted();
    parts.push(part instanceof Problem ? { transfers: [], failed: some.length, why: part.message } : part);
  }
  const failed = parts.reduce((sum, part) => sum + part.failed, 0);
  const why = parts.find((part) => part.failed > 0)?.why ?? "";
  if (failed > 0 && failed === chosen.length) throw new Problem("upstream-failed", why);
  return { transfers: mergeTransfers(parts.map(({ transfers }) => transfers)), failed, why };
}

/** @throws Problem `upstream-failed` when none could be read: a later attempt asks again. */
async function readSome(
  node: Upstream,
  wallet: string,
  some: readonly Signature[],
  signal: AbortSignal,
): Promise<ReadPart> {
  const queue = new PQueue({ concurrency: AT_ONCE });
  const found = await queue.addAll(some.map((each) => () => readOne(node, wallet, each, signal).catch(toFailure)));
  const failures = found.filter((one) => one instanceof Problem);
  if (failures[0] && failures.length === some.length) throw failures[0];
  const transfers = mergeTransfers(found.flatMap((one) => (one instanceof Problem ? [] : [one])));
  return { transfers, failed: failures.length, why: failures[0]?.message ?? "" };
}

async function readOne(node: Upstream, wallet: string, { signature, blockTime }: Signature, signal: AbortSignal) {
  const options = { encoding: "json", maxSupportedTransactionVersion: 1, ...CONFIRMED };
  const transaction = await askNode(node, ["getTransaction", [signature, options]], signal);
  if (transaction === null) throw new Problem("upstream-failed", `${node.title} has not kept all transactions`);
  const transfers = readSolanaTransfers(transaction, wallet, { signature, blockTime });
  if (transfers) return transfers;
  throw new Problem("upstream-failed", `${node.title} does not show what a transaction has changed, or when`);
}
