import type { Anchor, ChainAnchor, Log, Treasury } from "../api/capabilities.ts";
import { Problem } from "../api/problem.ts";
import type { EvmClient } from "./evm/client.ts";
import { checkLine, tooDear } from "./evm/sender/chain.ts";
import type { EvmSender, EvmSubmission } from "./evm/sender/sender.ts";
import { MEMO_PROGRAM } from "./solana/programs.ts";
import type { SolanaSender } from "./solana/sender.ts";
import type { TreasuryAccounts } from "./treasury.ts";

export interface AnchorOptions {
  /** The client of the Base chain. */
  readonly client: EvmClient;
  readonly evmSender: EvmSender;
  /** Undefined when Solana is not used; the Solana part of receipts is then null. */
  readonly solanaSender: SolanaSender | undefined;
  readonly treasury: Pick<Treasury, "evmAddress"> & Pick<TreasuryAccounts, "solanaAddress">;
  /** URLs of explorers with `{tx}` in them. */
  readonly explorers: { readonly base: string; readonly solana: string };
  readonly log: Log;
  /** The timeout of the Solana part; shorter than any caller's deadline. */
  readonly solanaMs?: number;
}

/** A transfer to oneself with 32 bytes of calldata takes about 22 000; the rest is for the rollup's data fee. */
const ANCHOR_GAS = 60_000n;
/** The least gas limit that the sender gives it. When this gas costs more than the cap of fees, it cannot be sent. */
const LEAST_GAS = 25_000n;
/** Longer than work is tried that was paid for. */
const UNFINISHED_MS = 15 * 60_000;
const NEVER = new AbortController().signal;

/** An anchor whose transaction on Base is sent. */
interface Begun {
  readonly onBase: EvmSubmission;
  /** Null while it is not written there. */
  readonly solana: ChainAnchor | null;
}

/** One that no block has taken in time: the next attempt goes on with it, instead of paying for another one. */
interface Unfinished extends Begun {
  /** Milliseconds of this process. */
  readonly at: number;
}

/**
 * Writes hashes to Base (a transaction of the treasury to itself whose calldata is the 32 bytes) and to Solana (a memo
 * of the 64 characters), in parallel. A failure on Base fails the anchor; Solana is null when it is not used or not in
 * time.
 */
export function createAnchor(options: AnchorOptions): Anchor {
  const { client, evmSender, solanaSender, treasury, explorers, log, solanaMs = 15_000 } = options;

  /** By hash. */
  const unfinished = new Map<string, Unfinished>();

  async function begin(hash: string, signal: AbortSignal): Promise<Begun> {
    const to = await treasury.evmAddress();
    const spentFor = { purpose: "anchor", about: hash } as const;
    return { onBase: await evmSender.submit({ to, data: `0x${hash}`, spentFor }, signal), solana: null };
  }

  /** What an earlier attempt has left, for this attempt alone. */
  function takeUp(hash: string): Begun | undefined {
    for (const [other, { at }] of unfinished) if (performance.now() - at > UNFINISHED_MS) unfinished.delete(other);
    const found = unfinished.get(hash);
    unfinished.delete(hash);
    return found;
  }

  function leave(hash: string, begun: Begun): void {
    const left = { ...begun, at: performance.now() };
    unfinished.set(hash, left);
    // What can never be included is sent anew.
    begun.onBase.included(NEVER).catch(() => unfinished.get(hash) === left && unfinished.delete(hash));
  }

  async function toSolana(hash: string, signal: AbortSignal): Promise<ChainAnchor | null> {
    if (!solanaSender) return null;
    const signer = { address: treasury.solanaAddress, isSigner: true, isWritable: false };
    const memo = { program: MEMO_PROGRAM, accounts: [signer], data: Buffer.from(hash, "utf8") };
    try {
      const { signature } = await solanaSender.send([memo], AbortSignal.any([signal, AbortSignal.timeout(solanaMs)]), {
        purpose: "anchor",
        about: hash,
      });
      return toAnchor(signature, explorers.solana);
    } catch (error) {
      log.warn("anchor.solana-failed", { hash, error });
      return null;
    }
  }

  return {
    async ready(signal) {
      const address = await treasury.evmAddress();
      const [balance, price] = await client
        .ask((chain) => Promise.all([chain.getBalance({ address }), chain.getGasPrice()]), signal)
        .catch((cause: unknown) => {
          throw new Problem("unavailable", "Base cannot be asked now, so nothing can be anchored", { cause });
        });
      if (balance < price * ANCHOR_GAS)
        throw new Problem("unavailable", "The treasury has too little ETH on Base to anchor; nothing was charged");
      if (price * LEAST_GAS > evmSender.feeCapWei) throw tooDear(client);
      checkLine(client, evmSender);
    },

    async write(hash, signal) {
      if (!/^[0-9a-fA-F]{64}$/.test(hash)) throw new Problem("internal", "An anchored hash has 64 hex characters");
      const { onBase, solana: written } = takeUp(hash) ?? (await begin(hash, signal));
      const failed = new AbortController();
      const inclusion = evmSender.wait(onBase, signal);
      inclusion.catch((error: unknown) => failed.abort(error));
      const solana = await (written ?? toSolana(hash, AbortSignal.any([signal, failed.signal])));
      const included = await inclusion.catch((error: unknown) => {
        leave(hash, { onBase, solana });
        throw error;
      });
      if (included.status !== "success") throw new Problem("upstream-failed", "The transaction on Base was reverted");
      const base = toAnchor(included.hash, explorers.base);
      return { base, solana, anchored_at: Math.floor(included.sentAt / 1000) };
    },
  };
}

const toAnchor = (tx: string, explorer: string): ChainAnchor => ({
  tx,
  explorer_url: explorer.replaceAll("{tx}", tx),
});
