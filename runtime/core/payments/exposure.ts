import type { Clock } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { oncePer } from "../once.ts";
import type { Store } from "../store.ts";
import { createDeadline } from "../time/deadline.ts";
import { type Rail, railOf } from "../x402/rails.ts";
import type { Payment } from "../x402/read-payment.ts";
import { payingAccountOf } from "../x402/solana-transaction.ts";
import type { PaymentRequirements } from "../x402/x402.ts";
import { payerOf } from "./purchase.ts";

/** A call whose work runs before its settlement. */
export interface UnsettledCall {
  /** The payment's key. */
  readonly key: string;
  /** The verified payer. */
  readonly payer: string;
  readonly offer: PaymentRequirements;
  readonly payment: Pick<Payment, "authorization" | "payload">;
  /** How long the work and its settlement may take together. */
  readonly lifeMs: number;
}

/** Whose balance pays, and how much. */
type Paying = Pick<UnsettledCall, "payer" | "offer"> & { readonly payment: Pick<Payment, "payload"> };

/**
 * Bounds the unsettled calls of a payer where work comes before settlement: their total price never exceeds the payer's
 * on-chain balance, so that one balance cannot buy several runs. On Solana the token account that pays is the payer: a
 * delegate may have signed, who has no more than its owner allows. Of a signer whose transactions do not tell it, one call
 * at a time is worked on. Counted across all processes that share the store.
 */
export interface Exposure {
  /**
   * Runs `work` as one of the payer's calls in flight. The balance is read only when the payer has other calls in
   * flight.
   * @throws Problem `rate-limited` when the payer has too much in flight; `unavailable` when the balance cannot be
   * read; and whatever `work` throws.
   */
  during<T>(call: UnsettledCall, work: () => Promise<T>): Promise<T>;
  /** Records that a call was settled: its price is subtracted from a balance that was read before. */
  spent(call: Paying): void;
  /** Records that a call was settled after its outcome was unknown: it is spent, and no longer in flight. */
  spentLate(call: Paying & Pick<UnsettledCall, "key">): void;
}

export interface ExposureDeps {
  readonly rails: readonly Rail[];
  readonly store: Store;
  readonly clock: Clock;
  /** How many calls of one payer may be in flight. */
  readonly mostCalls: number;
  readonly onError: (error: unknown) => void;
}

/** How long a balance is cached. */
const BALANCE_MS = 3000;
const READ_MS = 5000;
/** Weights are millionths of a token: exact integers up to 9 billion tokens, whatever the token's decimals. */
const WEIGHT_DECIMALS = 6;

export function createExposure({ rails, store, clock, mostCalls, onError }: ExposureDeps): Exposure {
  const balances = new Map<string, Balance>();
  const readDeadline = createDeadline(READ_MS);
  const chargeOf = oncePer((offer: PaymentRequirements) =>
    toWeight(offer.amount, railFor(offer).manifest.decimals, "up"),
  );

  /** How long the outcome of a settlement may be unknown: until its authorization has expired, and the chain shows it. */
  const openMsOf = ({ authorization: { validBefore = 0 } }: UnsettledCall["payment"], lifeMs: number): number =>
    Math.max(lifeMs, validBefore * 1000 - clock.now() + lifeMs);

  /** When it fails, the mark expires by itself. */
  const leave = (account: string, key: string): void => void store.leave(`in-flight:${account}`, key).catch(onError);
  const spend = (account: string, offer: PaymentRequirements): void => {
    const known = balances.get(account);
    if (known) known.spent += chargeOf(offer);
  };

  return {
    async during({ key, payer, offer, payment, lifeMs }, work) {
      const source = payingAccountOf(payment.payload);
      const holder = source ?? payer;
      const account = accountOf(holder, offer);
      const tally = await store.join(`in-flight:${account}`, key, chargeOf(offer), lifeMs);
      try {
        if (tally.members > mostCalls) throw tooMany(`${mostCalls} calls of this payer are being worked on already`);
        if (tally.members > 1 && source === undefined && "transaction" in payment.payload)
          throw tooMany("The payment does not tell which token account pays, and another such call is worked on");
        if (tally.members > 1 && tally.weight > (await weightOf(account, { holder, payer, offer })))
          throw tooMany("The payer's balance does not cover this call and those that are being worked on");
        const result = await work();
        leave(account, key);
        return result;
      } catch (error) {
        // While the outcome is unknown, the payment still counts as in flight: also for longer than a settlement takes.
        const isOpen = error instanceof Problem && error.code === "settlement-unknown";
        if (!isOpen) leave(account, key);
        else await store.join(`in-flight:${account}`, key, chargeOf(offer), openMsOf(payment, lifeMs)).catch(onError);
        throw error;
      }
    },
    spent: ({ payer, offer, payment }) => spend(accountOf(payingAccountOf(payment.payload) ?? payer, offer), offer),
    spentLate({ key, payer, offer, payment }) {
      const account = accountOf(payingAccountOf(payment.payload) ?? payer, offer);
      spend(account, offer);
      leave(account, key);
    },
  };

  function railFor(offer: PaymentRequirements): Rail {
    return railOf(rails, offer) as Rail; // Offers are made from rails.
  }

  /** What the payer may spend of the account's balance as a weight, less what was settled since the balance was read. */
  async function weightOf(account: string, spending: Spending): Promise<number> {
    const now = performance.now();
    for (const [other, { readAt }] of balances) if (now - readAt > BALANCE_MS) balances.delete(other);
    const known = balances.get(account) ?? { readAt: now, spent: 0, held: new Map() };
    balances.set(account, known);
    const payer = payerOf(spending.payer, spending.offer);
    const held = known.held.get(payer) ?? read(spending);
    known.held.set(payer, held);
    held.catch(() => balances.delete(account));
    return (await held) - known.spent;
  }

  async function read({ holder, payer, offer }: Spending): Promise<number> {
    const rail = railFor(offer);
    try {
      const held = await rail.settlements.balance(holder, offer, readDeadline(), payer);
      return toWeight(String(held), rail.manifest.decimals, "down");
    } catch (cause) {
      const detail = "The payer has other calls in flight, and its balance cannot be read";
      throw new Problem("unavailable", detail, { cause, retryAfter: 2 });
    }
  }
}

interface Balance {
  readonly readAt: number;
  /** By who spends it. */
  readonly held: Map<string, Promise<number>>;
  /** The weight settled since `readAt`. */
  spent: number;
}

/** Whose balance it is, and who spends it. */
interface Spending extends Pick<UnsettledCall, "payer" | "offer"> {
  readonly holder: string;
}

const accountOf = (holder: string, offer: PaymentRequirements): string => `${payerOf(holder, offer)}:${offer.asset}`;

const tooMany = (detail: string): Problem =>
  new Problem("rate-limited", `${detail}; nothing was charged`, { retryAfter: 2 });

/** Atomic units in millionths of a token: charges are rounded up, balances down. */
export function toWeight(amount: string, decimals: number, rounding: "up" | "down"): number {
  const units = BigInt(amount);
  if (decimals <= WEIGHT_DECIMALS) return Math.min(Number(units * 10n ** BigInt(WEIGHT_DECIMALS - decimals)), MOST);
  const unit = 10n ** BigInt(decimals - WEIGHT_DECIMALS);
  return Math.min(Number((units + (rounding === "up" ? unit - 1n : 0n)) / unit), MOST);
}

/** Small enough that the sum of 64 weights is exact in every store. */
const MOST = 2 ** 46;
