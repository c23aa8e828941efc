import type { SignatureStatus, VersionedTransaction } from "@solana/web3.js";
import type { Clock, Log } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { type SpentFor, toFee } from "../../core/books/fees.ts";
import type { Store } from "../../core/store.ts";
import { delay } from "../http/retry.ts";
import type { TreasuryAccounts } from "../treasury.ts";
import type { SolanaClient } from "./client.ts";

/** One instruction of a transaction. Addresses are base58. */
export interface SolanaInstruction {
  readonly program: string;
  readonly accounts: readonly { readonly address: string; readonly isSigner: boolean; readonly isWritable: boolean }[];
  readonly data: Uint8Array;
}

/** A transaction that the cluster has confirmed. */
export interface SolanaInclusion {
  /** Base58. */
  readonly signature: string;
}

/** Sends the treasury's transactions on Solana. */
export interface SolanaSender {
  /**
   * Sends the instructions as one transaction, paid and signed by the treasury, and waits until it is confirmed. After
   * a failure other than `unavailable` it may still land, at most once.
   * @param spentFor the reason, for the book
   * @throws Problem `upstream-failed`, or `unavailable` when the treasury cannot pay; the signal's reason.
   */
  send(instructions: readonly SolanaInstruction[], signal: AbortSignal, spentFor?: SpentFor): Promise<SolanaInclusion>;
}

export interface SolanaSenderOptions {
  readonly client: SolanaClient;
  /** CAIP-2. */
  readonly network: string;
  /** The store with the shop's book. */
  readonly store: Pick<Store, "enter">;
  readonly treasury: Pick<TreasuryAccounts, "solanaAddress" | "signSolana">;
  readonly clock: Clock;
  readonly log: Log;
  readonly pollMs?: number;
  /** The interval at which the same bytes are sent again: nodes drop what they cannot forward at once. */
  readonly resendMs?: number;
  /** How often it is signed; each time after the previous blockhash has expired. */
  readonly attempts?: number;
}

export function createSolanaSender(options: SolanaSenderOptions): SolanaSender {
  const { client, clock, log, pollMs = 500, resendMs = 2000, attempts = 3 } = options;

  /** Sends one signed transaction until it is confirmed, or until its blockhash has expired without it: undefined. */
  async function deliver(
    { transaction, signature, lastHeight }: Signed,
    signal: AbortSignal,
    spentFor: SpentFor,
  ): Promise<Delivery> {
    const raw = transaction.serialize();
    let lastAt = Number.NEGATIVE_INFINITY;
    let isExpired = false;
    let seenAt = 0;
    for (;;) {
      // Absolute: a clock that was set back delays nothing.
      if (Math.abs(clock.now() - lastAt) >= resendMs) {
        await client.ask((chain) => chain.sendRawTransaction(raw, RAW), signal).catch(ignore(signal));
        lastAt = clock.now();
        // Before the status: a transaction that has not landed at this height never will.
        const epoch = await client.ask((chain) => chain.getEpochInfo(), signal).catch(ignore(signal));
        isExpired = epoch?.blockHeight !== undefined && epoch.blockHeight > lastHeight;
        seenAt = epoch?.absoluteSlot ?? 0;
      }
      const found = await client
        .ask((chain) => chain.getSignatureStatuses([signature], { searchTransactionHistory: isExpired }), signal)
        .catch(ignore(signal));
      const status = found?.value[0];
      if (status?.err || (status && isConfirmed(status))) await enterFee(options, { signature, status, spentFor });
      if (status && isConfirmed(status)) return { signature };
      if (found && !status && isExpired && found.context.slot >= seenAt) return undefined;
      await delay(pollMs, signal);
    }
  }

  return {
    async send(instructions, signal, spentFor = { purpose: "other" }) {
      for (let attempt = 1; attempt <= attempts; attempt++) {
        const signed = await sign(options, instructions, signal);
        await simulate(options, signed.transaction, signal);
        const delivery = await deliver(signed, signal, spentFor);
        if (delivery) return delivery;
        log.warn("solana.expired", { signature: signed.signature, attempt });
      }
      throw new Problem("upstream-failed", `Solana let a transaction expire ${attempts} times`);
    },
  };
}

type Delivery = SolanaInclusion | undefined;

/** Without preflight: the first sending has passed one, and a second one would only report "already processed". */
const RAW = { skipPreflight: true, maxRetries: 0 } as const;

/** A sent transaction may have arrived, so outages are ignored until the caller's signal is aborted. */
const ignore = (signal: AbortSignal) => (): undefined => {
  signal.throwIfAborted();
};

/** @throws Problem `upstream-failed` for a transaction that landed and failed. */
function isConfirmed({ err, confirmationStatus }: SignatureStatus): boolean {
  if (err)
    throw new Problem("upstream-failed", "A transaction failed on Solana", { cause: new Error(JSON.stringify(err)) });
  return confirmationStatus === "confirmed" || confirmationStatus === "finalized";
}

interface Signed {
  readonly transaction: VersionedTransaction;
  readonly signature: string;
  /** The last block height at which the transaction can land. */
  readonly lastHeight: number;
}

/** The most compute units of a transaction. */
const COMPUTE_UNITS = 100_000;
/** The price per compute unit, in millionths of a lamport. */
const UNIT_PRICE = 20_000;

/** Lamports: the fee of one signature and the priority fee. */
export const FEE: bigint = 5000n + (BigInt(COMPUTE_UNITS) * BigInt(UNIT_PRICE)) / 1_000_000n;
const PATIENCE_MS = 2000;
/** How long the store knows that a fee was entered. */
const ENTERED_MS = 24 * 60 * 60_000;

interface Landed {
  readonly signature: string;
  readonly status: SignatureStatus;
  readonly spentFor: SpentFor;
}

/** Enters the fee of a transaction, successful or failed, in the book. Never rejects. */
async function enterFee(options: SolanaSenderOptions, { signature, status, spentFor }: Landed): Promise<void> {
  const { client, network, store, clock, log } = options;
  const version = { commitment: "confirmed", maxSupportedTransactionVersion: 0 } as const;
  const patience = AbortSignal.timeout(PATIENCE_MS);
  const found = await client.ask((chain) => chain.getTransaction(signature, version), patience).catch(() => null);
  const cost = found?.meta ? BigInt(found.meta.fee) : FEE; // A node may not show the transaction yet.
  const spent = { transaction: signature, network, at: clock.now(), cost, isReverted: status.err !== null };
  const entry = { key: `solana-fee:${signature}`, value: 1, ttlMs: ENTERED_MS, durability: "lazy" } as const;
  await store
    .enter(toFee({ ...spent, ...spentFor }), entry)
    .catch((error: unknown) => log.warn("solana.fee-unentered", { signature, error }));
}

/** Signs with a fresh blockhash. From then on the transaction can land once, until the blockhash expires. */
async function sign(
  { client, treasury }: SolanaSenderOptions,
  instructions: readonly SolanaInstruction[],
  signal: AbortSignal,
): Promise<Signed> {
  const { ComputeBudgetProgram, PublicKey, TransactionInstruction, TransactionMessage, VersionedTransaction } =
    await import("@solana/web3.js");
  const { base58 } = await import("@scure/base");
  const { blockhash, lastValidBlockHeight } = await client.ask((chain) => chain.getLatestBlockhash(), signal);
  const toWeb3 = ({ program, accounts, data }: SolanaInstruction) =>
    new TransactionInstruction({
      programId: new PublicKey(program),
      keys: accounts.map(({ address, ...flags }) => ({ pubkey: new PublicKey(address), ...flags })),
      data: Buffer.from(data),
    });
  const payerKey = new PublicKey(treasury.solanaAddress);
  const message = new TransactionMessage({
    payerKey,
    recentBlockhash: blockhash,
    instructions: [
      ComputeBudgetProgram.setComputeUnitLimit({ units: COMPUTE_UNITS }),
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: UNIT_PRICE }),
      ...instructions.map(toWeb3),
    ],
  }).compileToV0Message();
  const transaction = new VersionedTransaction(message);
  const signature = treasury.signSolana(message.serialize());
  transaction.addSignature(payerKey, signature);
  return { transaction, signature: base58.encode(signature), lastHeight: lastValidBlockHeight };
}

/** Transient errors: the node lags, or the identical message was sent a moment ago. */
const PASSING = new Set<unknown>(["BlockhashNotFound", "AlreadyProcessed"]);

/** Errors of a treasury account that is empty or does not exist. */
const PENNILESS = new Set<unknown>(["AccountNotFound", "InsufficientFundsForFee", "InsufficientFundsForRent"]);

/** Simulates before sending, so that a transaction that would fail is refused with a reason and without a fee. */
async function simulate(
  { client, log }: SolanaSenderOptions,
  transaction: VersionedTransaction,
  signal: AbortSignal,
): Promise<void> {
  const { value } = await client.ask((chain) => chain.simulateTransaction(transaction), signal);
  const { err } = value;
  if (err === null || PASSING.has(err)) return;
  log.error("solana.refused", { err, logs: value.logs });
  const cause = new Error(JSON.stringify(err));
  const name = typeof err === "string" ? err : Object.keys(err)[0];
  throw PENNILESS.has(name)
    ? new Problem("unavailable", "The service cannot pay for a transaction on Solana now", { cause })
    : new Problem("upstream-failed", "Solana refused a transaction", { cause });
}
