import type { TokenBalance, VersionedMessage, VersionedTransactionResponse } from "@solana/web3.js";
import type { Clock } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import type { PaymentPayload, PaymentRequirements, SettlementReader, SettlementState } from "../../core/x402/x402.ts";
import type { SolanaClient } from "./client.ts";
import { sumOwnTransfers } from "./own-transfers.ts";
import { readTokenAccount } from "./receiver.ts";
import { readLanded, type SeenMessages, searchMessage } from "./settlements-search.ts";

export interface SolanaSettlementsOptions {
  readonly client: SolanaClient;
  readonly clock: Clock;
  /** Milliseconds that no setting of the clock changes; by default those of the clock. */
  readonly awake?: () => number;
  /**
   * How long a blockhash must have been invalid, on a node whose blocks reach as far as the first look: nodes list what has
   * landed later than they know that a blockhash has expired, some by a minute.
   */
  readonly graceMs?: number;
}

/** How far back the payer's transactions are searched for a payment that was first looked up after its expiry. */
const WINDOW_MS = 24 * 60 * 60 * 1000;

/**
 * Reads the state of a partially signed transaction: searches the payer's recent transactions for the one with exactly
 * its message. The transaction's id is the fee payer's signature, which is not known in advance.
 */
export function createSolanaSettlements(options: SolanaSettlementsOptions): SettlementReader {
  const { client, clock, awake = () => clock.now(), graceMs = 120_000 } = options;
  const sightings = new Map<string, Sighting>();
  const seen: SeenMessages = new Map();

  async function find(
    payment: PaymentPayload,
    offer: PaymentRequirements,
    signal: AbortSignal,
    reported?: string,
  ): Promise<SettlementState> {
    const message = await readMessage(payment);
    const named =
      reported === undefined ? undefined : await client.ask((node) => readLanded(node, message, reported), signal);
    if (named) return judge(named, offer);
    // Before the search: what has not landed when the blockhash has expired never will.
    const { validSlot, invalid, slot } = await look(message.recentBlockhash, signal);
    const isLate = invalid !== undefined && awake() - invalid.sinceAwake >= graceMs;
    // A node that is behind does not know the newest blockhashes.
    const isOver = isLate && (await timeOf(slot, signal)) + BLOCK_TIME_ERROR_MS >= invalid.since;
    const since = validSlot === undefined ? slot - WINDOW_MS / FASTEST_SLOT_MS : validSlot - LIFETIME_SLOTS;
    const from = { since, minContextSlot: slot };
    const { landed, isComplete } = await client.ask((node) => searchMessage(node, message, from, seen), signal);
    if (landed) return judge(landed, offer);
    if (!isComplete)
      throw new Problem("upstream-failed", "The payer has more transactions on Solana than can be searched");
    return { state: isOver ? "dead" : "open" };
  }

  /** The time of a block in Unix milliseconds, 0 where it is not known: some slots have none. */
  const timeOf = async (slot: number, signal: AbortSignal): Promise<number> =>
    ((await client.ask((node) => node.getBlockTime(slot), signal).catch(() => null)) ?? 0) * 1000;

  /** Asks whether a blockhash is valid, and remembers since when it is not. */
  async function look(blockhash: string, signal: AbortSignal): Promise<Sighting & { readonly slot: number }> {
    const answers = await client.ask(
      (node) => Promise.all(LEVELS.map((commitment) => node.isBlockhashValid(blockhash, { commitment }))),
      signal,
    );
    const now = clock.now();
    forgetOld(sightings, now);
    const before = sightings.get(blockhash);
    sightings.delete(blockhash);
    const invalid = {
      since: Math.min(before?.invalid?.since ?? now, now), // The clock may have been set back.
      sinceAwake: Math.min(before?.invalid?.sinceAwake ?? awake(), awake()),
    };
    const isValid = answers.some(({ value }) => value);
    const slot = Math.min(...answers.map(({ context }) => context.slot));
    const sighting = isValid
      ? { seenAt: now, validSlot: before?.validSlot ?? slot, invalid: undefined }
      : { seenAt: now, validSlot: before?.validSlot, invalid };
    sightings.set(blockhash, sighting);
    return { ...sighting, slot };
  }

  /** The balance of a token account, or of an owner over all its accounts of the mint. */
  async function balance(
    holder: string,
    { asset }: PaymentRequirements,
    signal: AbortSignal,
    signer?: string,
  ): Promise<bigint> {
    const { PublicKey } = await import("@solana/web3.js");
    const owner = new PublicKey(holder);
    const account = await readTokenAccount(client, owner, signal);
    if (account) return signer === undefined ? account.amount : account.spendableBy(signer);
    const filter = { mint: new PublicKey(asset) };
    const { value } = await client.ask((node) => node.getParsedTokenAccountsByOwner(owner, filter), signal);
    return value.reduce((sum, { account }) => sum + BigInt(account.data.parsed.info.tokenAmount.amount), 0n);
  }

  return { find, balance, ping: (signal) => client.ask((node) => node.getSlot(), signal) };
}

/** The observations of a blockhash; times in Unix milliseconds. */
interface Sighting {
  readonly seenAt: number;
  /** The slot in which it was first seen as valid: no transaction with it landed much earlier. */
  readonly validSlot: number | undefined;
  /** When it was first seen as invalid, in both times. */
  readonly invalid: { readonly since: number; readonly sinceAwake: number } | undefined;
}

/** They are in the order of their last look: the first one that is kept ends this, since a day has up to 200,000. */
export function forgetOld(sightings: Map<string, Pick<Sighting, "seenAt">>, now: number): void {
  for (const [known, { seenAt }] of sightings) {
    if (Math.abs(now - seenAt) <= WINDOW_MS) return; // Absolute: the clock may have been ahead.
    sightings.delete(known);
  }
}

/** It must be invalid at both levels: for the newest blocks, and for the final ones some seconds behind. */
const LEVELS = ["processed", "finalized"] as const;
/** Block times are whole seconds. */
const BLOCK_TIME_ERROR_MS = 2000;
/** A blockhash lives for 150 blocks, and some slots have none. */
const LIFETIME_SLOTS = 1000;
/** A slot lasts 400 ms, or a little less. */
const FASTEST_SLOT_MS = 300;

/** @throws Problem `internal` when the payload contains no transaction, which `readPayment` prevents. */
async function readMessage({ payload }: PaymentPayload): Promise<VersionedMessage> {
  const { VersionedTransaction } = await import("@solana/web3.js");
  try {
    return VersionedTransaction.deserialize(Buffer.from(String(payload.transaction), "base64")).message;
  } catch (cause) {
    throw new Problem("internal", "The payment holds no Solana transaction", { cause });
  }
}

/** A transaction that failed on the chain can never succeed, since a message is executed only once. */
function judge(landed: VersionedTransactionResponse, offer: PaymentRequirements): SettlementState {
  const { meta, transaction } = landed;
  const gained = held(meta?.postTokenBalances, offer) - held(meta?.preTokenBalances, offer);
  const received = gained + sumOwnTransfers(landed, { mint: offer.asset, owner: offer.payTo });
  const isPaid = meta?.err === null && received >= BigInt(offer.amount);
  return isPaid ? { state: "settled", transaction: transaction.signatures[0]! } : { state: "dead" };
}

/** The recipient's balance of the asset in the accounts of the transaction. */
const held = (balances: readonly TokenBalance[] | null | undefined, { asset, payTo }: PaymentRequirements): bigint =>
  (balances ?? [])
    .filter(({ mint, owner }) => mint === asset && owner === payTo)
    .reduce((total, { uiTokenAmount }) => total + BigInt(uiTokenAmount.amount), 0n);
