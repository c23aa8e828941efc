import type { PublicClient } from "viem";
import type { Store } from "../../../core/store.ts";
import { readTime } from "../../evm/block-times.ts";
import type { EvmInclusion } from "../../evm/sender/signer.ts";
import { delay } from "../../http/retry.ts";

/** The signer of a payment. */
export interface GasPayer {
  /** Lower case. */
  readonly address: string;
  /** Whether a contract verifies the signature (ERC-1271): its verdict may change between simulation and block. */
  readonly isContract: boolean;
}

/** A transaction that used gas and moved no money. */
export interface GasLoss {
  readonly hash: string;
  readonly feeWei: bigint;
}

/** A payer's place for one transaction, until its outcome is known. */
export interface GasPlace {
  /** Call when the transaction succeeded, or was never sent. */
  release(): Promise<void>;
  /** Call when the transaction reverted. Counted once per hash. */
  lose(loss: GasLoss): Promise<void>;
}

/** Limits how much of the treasury's gas each payer can waste. Shared by all processes that share the store. */
export interface GasBudget {
  /** Whether this payer's payments are refused now. */
  isSpent(payer: GasPayer): Promise<boolean>;
  /** Waits for a free place; undefined when the payer's payments are refused now. @throws the signal's reason. */
  reserve(payer: GasPayer, signal: AbortSignal): Promise<GasPlace | undefined>;
  /**
   * Counts a loss without a place, such as that of a transaction of another process.
   * @param payer undefined when the payer is not its cause
   */
  lose(payer: GasPayer | undefined, loss: GasLoss): Promise<void>;
  /** Notes a contract that has paid: until it loses one, the limit for unknown contracts does not apply to it. */
  trust(payer: GasPayer): Promise<void>;
  /** The losses within a day; undefined when there are none. */
  total(): Promise<{ readonly transactions: number; readonly gwei: number } | undefined>;
}

/** How many transactions of one payer may be lost within a day. A contract has at most as many in flight. */
const MOST_OF_PAYER = 5;
/** How many transactions of contracts may be lost within a day; then only contracts may pay whose last one has paid. */
const MOST_OF_CONTRACTS = 25;
const DAY_MS = 24 * 60 * 60_000;
const TRUST_MS = 30 * DAY_MS;
/** The time after which a place is freed that no process has cleared because of a crash. */
const PLACE_MS = 60 * 60_000;
const POLL_MS = 250;
/** A transaction that is sent this long before its payment expires is in a block by then, unless the chain is jammed. */
const IN_TIME_MS = 30_000;
const WEI_PER_GWEI = 10n ** 9n;

/**
 * Each payer has a few places in the store. A transaction in flight holds a place; a lost one holds it for a day. An
 * ordinary account needs no place before its first loss, since its signature stays valid until it is used.
 * @param network CAIP-2.
 */
export function createGasBudget(store: Store, network: string): GasBudget {
  const placeOf = ({ address }: GasPayer, at: number): string => `gas-place:${network}:${address}:${at}`;
  const trustOf = ({ address }: GasPayer): string => `gas-trust:${network}:${address}`;
  const lost = (what: "transactions" | "gwei" | "contracts"): string => `gas-lost:${network}:${what}`;
  const unknown = `gas-unknown:${network}`;
  const places = Array.from({ length: MOST_OF_PAYER }, (_, at) => at);

  async function isSpent(payer: GasPayer): Promise<boolean> {
    const held = await Promise.all(places.map((at) => store.get(placeOf(payer, at))));
    if (held.every((use) => use === "lost")) return true;
    if (!payer.isContract || ((await store.get<number>(lost("contracts"))) ?? 0) < MOST_OF_CONTRACTS) return false;
    return (await store.get(trustOf(payer))) === undefined;
  }

  async function take(payer: GasPayer, use: "in flight" | "lost", ttlMs: number): Promise<number | undefined> {
    for (const at of places) if (await store.putIfAbsent(placeOf(payer, at), use, ttlMs)) return at;
    return undefined;
  }

  /** Transactions of unknown contracts in flight may all be lost at once: they count as lost ones do. */
  async function maySend(payer: GasPayer, place: string): Promise<boolean> {
    if (!payer.isContract || (await store.get(trustOf(payer))) !== undefined) return true;
    const { members } = await store.join(unknown, place, 1, PLACE_MS);
    if (members + ((await store.get<number>(lost("contracts"))) ?? 0) <= MOST_OF_CONTRACTS) return true;
    await store.leave(unknown, place);
    return false;
  }

  async function count(payer: GasPayer | undefined, { hash, feeWei }: GasLoss, at?: number): Promise<void> {
    if (!(await store.putIfAbsent(`gas-loss:${network}:${hash}`, 1, DAY_MS))) {
      if (payer && at !== undefined) await store.delete(placeOf(payer, at)); // The loss holds another place.
      return;
    }
    await Promise.all([
      payer && (at === undefined ? take(payer, "lost", DAY_MS) : store.set(placeOf(payer, at), "lost", DAY_MS)),
      store.incr(lost("transactions"), 1, DAY_MS),
      store.incr(lost("gwei"), Number(feeWei / WEI_PER_GWEI) + 1, DAY_MS),
      payer?.isContract && store.incr(lost("contracts"), 1, DAY_MS),
      payer?.isContract && store.delete(trustOf(payer)),
    ]);
  }

  return {
    isSpent,
    async reserve(payer, signal) {
      if (!payer.isContract && (await store.get(placeOf(payer, 0))) === undefined)
        return { release: async () => {}, lose: (loss) => count(payer, loss) };
      for (;;) {
        if (await isSpent(payer)) return undefined;
        const at = await take(payer, "in flight", PLACE_MS);
        if (at !== undefined) {
          const place = placeOf(payer, at);
          const leave = (): Promise<void> => store.leave(unknown, place);
          const release = async (): Promise<void> => void (await Promise.all([store.delete(place), leave()]));
          if (await maySend(payer, place)) return { release, lose: (loss) => count(payer, loss, at).then(leave) };
          await release();
        }
        await delay(POLL_MS, signal);
      }
    },
    lose: (payer, loss) => count(payer, loss),
    trust: async (payer) => {
      if (payer.isContract) await store.set(trustOf(payer), 1, TRUST_MS, "lazy");
    },
    async total() {
      const [transactions = 0, gwei = 0] = await Promise.all([
        store.get<number>(lost("transactions")),
        store.get<number>(lost("gwei")),
      ]);
      return transactions > 0 ? { transactions, gwei } : undefined;
    },
  };
}

/**
 * Whether a transaction was sent in time and mined after its payment had expired: then the payer is not the cause.
 * @param validBefore Unix seconds
 */
export async function isLate(
  chain: PublicClient,
  { blockNumber, sentAt }: EvmInclusion,
  validBefore: string,
): Promise<boolean> {
  const end = Number(validBefore) * 1000;
  return end - sentAt >= IN_TIME_MS && (await readTime(chain, blockNumber)) >= end;
}
