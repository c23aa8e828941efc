import type { Connection, TokenBalance, VersionedTransactionResponse } from "@solana/web3.js";
import { Problem } from "../../api/problem.ts";
import type { Transfer, TransferReader } from "../../core/books/audit.ts";
import type { Span } from "../../core/books/books.ts";
import { TRANSFER_CHECKED } from "../../core/x402/solana-transaction.ts";
import type { SolanaClient } from "./client.ts";
import { sumOwnTransfers } from "./own-transfers.ts";
import { MEMO_PROGRAM } from "./programs.ts";
import { tokenAccountOf } from "./receiver.ts";

export interface SolanaTransfersOptions {
  readonly client: SolanaClient;
  /** The token's mint, base58. */
  readonly mint: string;
}

/** The entries of one request; the RPC's own limit. */
const PAGE = 1000;
const BATCH = 10;
const SIGNATURE_BYTES = 64;
/** The first account of a transaction pays its fee. */
const FEE_PAYER = 0;
/** The newest version that web3.js reads. */
const FETCHED = { commitment: "confirmed", maxSupportedTransactionVersion: 1 } as const;

/** Reads transfers of an SPL token from the transactions of the receivers' associated token accounts. */
export function createSolanaTransfers({ client, mint }: SolanaTransfersOptions): TransferReader {
  /** A node of another chain gives no answer. */
  const ask: SolanaClient["ask"] = (work) =>
    client.ask(work).catch((cause: unknown) => {
      throw new Problem("upstream-failed", Problem.from(cause).message, { cause });
    });

  return {
    begin: async () => 0,
    read: (receivers, span) =>
      ask(async (node) => {
        const found: Transfer[] = [];
        for (const receiver of receivers) found.push(...(await readReceiver(node, { mint, receiver, span })));
        return found;
      }),
    async of(signature, receivers) {
      if (!(await isSignature(signature))) return []; // A facilitator may have reported anything.
      const landed = await ask((node) => node.getTransaction(signature, FETCHED));
      return receivers.flatMap((receiver) => toTransfer(landed, { signature, mint, receiver }));
    },
    isPayment: async (signature) => looksPaid(await ask((node) => fetchOne(node, signature))),
  };
}

async function isSignature(text: string): Promise<boolean> {
  const { base58 } = await import("@scure/base");
  try {
    return base58.decode(text).length === SIGNATURE_BYTES;
  } catch {
    return false;
  }
}

const COMPUTE_BUDGET = "ComputeBudget111111111111111111111111111111";

/**
 * Whether a transaction has the form that stock clients give to payments (x402, "exact" on Solana): the fee is paid by
 * somebody who has no part in the transfer, which comes third and is followed by a memo. A plain transfer hardly has it.
 */
function looksPaid({ transaction: { message } }: VersionedTransactionResponse): boolean {
  const { staticAccountKeys: keys, compiledInstructions: instructions } = message;
  const programs = instructions.map(({ programIdIndex }) => keys[programIdIndex]?.toBase58());
  const [, , transfer] = instructions;
  return (
    programs[0] === COMPUTE_BUDGET &&
    programs[1] === COMPUTE_BUDGET &&
    programs.slice(3).includes(MEMO_PROGRAM) &&
    transfer?.data[0] === TRANSFER_CHECKED &&
    !instructions.some(({ accountKeyIndexes }) => accountKeyIndexes.includes(FEE_PAYER))
  );
}

interface Wanted {
  readonly mint: string;
  readonly receiver: string;
  readonly span: Span;
}

async function readReceiver(node: Connection, { mint, receiver, span }: Wanted): Promise<Transfer[]> {
  const account = await tokenAccountOf(receiver, mint);
  const found: Transfer[] = [];
  /** The time of the last entry. A node may not know a block's; the entry is then no younger than the one before it. */
  let at = span.to - 1;
  for (let before: string | undefined; ; ) {
    const page = await node.getSignaturesForAddress(account, { limit: PAGE, ...(before && { before }) }, "confirmed");
    const timed = page.map(({ signature, blockTime, err }) => {
      if (typeof blockTime === "number") at = blockTime * 1000;
      return { signature, err, at };
    });
    const inside = timed.filter((one) => one.err === null && one.at >= span.from && one.at < span.to);
    for (let first = 0; first < inside.length; first += BATCH) {
      const batch = inside.slice(first, first + BATCH);
      const landed = await Promise.all(batch.map(({ signature }) => fetchOne(node, signature)));
      found.push(...landed.flatMap((one, index) => toTransfer(one, { ...batch[index]!, mint, receiver })));
    }
    if (page.length < PAGE || at < span.from) return found;
    before = page.at(-1)?.signature;
  }
}

async function fetchOne(node: Connection, signature: string): Promise<VersionedTransactionResponse> {
  const landed = await node.getTransaction(signature, FETCHED);
  if (!landed) throw new Problem("upstream-failed", `The Solana node does not have the transaction ${signature}`);
  return landed;
}

interface Landed {
  readonly signature: string;
  readonly mint: string;
  readonly receiver: string;
  /** Its time where the transaction itself has none. */
  readonly at?: number;
}

function toTransfer(
  landed: VersionedTransactionResponse | null,
  { signature, mint, receiver, at = 0 }: Landed,
): Transfer[] {
  if (!landed?.meta || landed.meta.err !== null) return [];
  const { preTokenBalances: before, postTokenBalances: after } = landed.meta;
  const gained = (owner: string): bigint => held(after, mint, owner) - held(before, mint, owner);
  const own = sumOwnTransfers(landed, { mint, owner: receiver });
  const amount = gained(receiver) + own;
  if (amount <= 0n) return [];
  const owners = new Set([...(before ?? []), ...(after ?? [])].map(({ owner }) => owner ?? ""));
  const from = [...owners].find((owner) => owner !== receiver && gained(owner) < 0n) ?? (own > 0n ? receiver : null);
  const { staticAccountKeys: keys, header } = landed.transaction.message;
  const signers = keys.slice(0, header.numRequiredSignatures).map((key) => key.toBase58());
  return [
    {
      transaction: signature,
      from,
      signers,
      to: receiver,
      amount,
      at: landed.blockTime ? landed.blockTime * 1000 : at,
    },
  ];
}

const held = (balances: readonly TokenBalance[] | null | undefined, mint: string, of: string): bigint =>
  (balances ?? [])
    .filter((balance) => balance.mint === mint && balance.owner === of)
    .reduce((total, { uiTokenAmount }) => total + BigInt(uiTokenAmount.amount), 0n);
