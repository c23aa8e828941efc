import type { Clock } from "../../../api/capabilities.ts";
import { Problem } from "../../../api/problem.ts";
import type { Outcome } from "../../call.ts";
import type { Store } from "../../store.ts";
import { createDeadline } from "../../time/deadline.ts";
import { createLeases } from "../../time/leases.ts";
import { type Rail, railOf } from "../../x402/rails.ts";
import { type Payment, readPayment, toPayload } from "../../x402/read-payment.ts";
import type { PaymentPayload, PaymentRequirements } from "../../x402/x402.ts";
import { callOf, notePayment, type Purchase, toVerified, type VerifiedPurchase } from "../purchase.ts";
import { type PaymentRecord, UNATTENDED_MS } from "../record.ts";
import { isKnownUnpaid, KEEP_MS, type Reservations } from "../reservations.ts";
import type { SoldBy } from "../seller-of.ts";
import type { Settler } from "../settlement.ts";
import { explainTime, leastSecondsOf } from "../validity.ts";
import { createIdentifierNames } from "./names.ts";

/**
 * The identifiers that payers give to their purchases (x402 extension `payment-identifier`). A payer who lost an answer
 * signs a new payment with the same identifier and gets the stored answer; the second authorization is never settled.
 * Identifiers are scoped to the payer that the payment proves, so that those of different payers never collide. An
 * identifier stands for one authorization until the chain shows that this authorization can never be settled.
 */
export interface Identifiers {
  /**
   * Buys with a verified payment, or finishes the purchase that its identifier already stands for. Call it under the
   * payment's lease. @throws Problem `payment-conflict` when the identifier stands for another call; and what `ways`
   * throw.
   */
  once(purchase: VerifiedPurchase, ways: Ways): Promise<Outcome>;
  /**
   * Finishes the purchase that a payment's identifier already stands for, without asking the facilitator: the payer may
   * have no money left. Undefined when there is no such purchase, or when the signature alone does not prove the payer.
   * Call it under the lease of a payment that has no record: a settled payment is public, and anybody could copy it.
   * @throws Problem as `once`.
   */
  recall(purchase: Purchase, ways: Pick<Ways, "finish">): Promise<Outcome | undefined>;
  /** Records what an identifier stands for, before the payment itself; false when another call was first. */
  bind(purchase: VerifiedPurchase): Promise<boolean>;
  close(): void;
}

export interface Ways {
  readonly buy: (purchase: VerifiedPurchase) => Promise<Outcome>;
  /** Concludes the purchase that is on record. */
  readonly finish: (purchase: Purchase, record: PaymentRecord) => Promise<Outcome>;
}

export interface IdentifiersDeps {
  readonly store: Store;
  readonly rails: readonly Rail[];
  readonly reservations: Pick<Reservations, "claimPayment" | "read">;
  readonly soldBy: SoldBy;
  readonly look: Settler["look"];
  /** @throws Problem when no facilitator that could settle the offer is trusted. */
  readonly checkTrust: (offer: PaymentRequirements) => void;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
  /** The shortest time for which answers are kept, for wallets that prove themselves by a new signature. */
  readonly answersMs: number;
}

/** What an identifier stands for. */
interface Named {
  /** The payment that is settled for it. */
  readonly payment: PaymentPayload;
  /** Digest of service and input. */
  readonly call: string;
  /** Digest of service and input as it came. */
  readonly asked?: string;
  /** Unix milliseconds. */
  readonly at: number;
  /** For how long its answer was to be kept at least, whatever the shop says now; absent in older records. */
  readonly keptMs?: number;
  /** How long this is remembered, where others come after it: Unix milliseconds. */
  readonly until?: number;
}

const VERIFY_MS = 10_000;

export function createIdentifiers(deps: IdentifiersDeps): Identifiers {
  const { store, rails, reservations, soldBy, look, clock, onError, answersMs } = deps;
  const keptMs = Math.max(KEEP_MS, answersMs);
  const leases = createLeases({ store, prefix: "lease:named:", onError });
  const names = createIdentifierNames({ store, rails });
  const verifyDeadline = createDeadline(VERIFY_MS);

  return {
    async once(purchase, ways) {
      const { payment, payer } = purchase;
      if (payment.identifier === undefined) return ways.buy(purchase);
      // The payer's own signature decides; the facilitator's word counts only where the payload names no payer.
      const proven = payment.authorization.payer ?? payer;
      if (proven === undefined) throw new Problem("unavailable", NOBODY);
      const name = await names.choose(proven, purchase);
      const buy: Steps["buy"] = async (named, earlier) => {
        if (!earlier) return ways.buy({ ...purchase, named });
        const { isSettled, ...terms } = earlier;
        const bought = toVerified({ ...purchase, ...terms, named });
        notePayment(bought, rails);
        if (!isSettled && !(await isStillValid(bought))) throw undecided();
        return ways.buy(bought);
      };
      return find(name, purchase, { buy, finish: ways.finish }) as Promise<Outcome>; // `buy` always returns one here.
    },
    async recall(purchase, { finish }) {
      const { authorization, identifier } = purchase.payment;
      if (identifier === undefined || authorization.payer === undefined) return undefined;
      const name = await names.find(authorization.payer, purchase);
      if (name === undefined) return undefined; // The facilitator decides instead.
      return find(name, purchase, { buy: async () => undefined, finish });
    },
    async bind(purchase) {
      const { named, payment, offer, invocation, asked, key } = purchase;
      if (named === undefined) return true;
      const value: Named = {
        payment: toPayload(payment, offer, invocation.resource),
        call: callOf(purchase),
        ...(asked !== undefined && { asked }),
        at: clock.now(),
        keptMs,
      };
      if (await store.putIfAbsent(`named:${named}`, value, memoryMs(payment))) return true;
      const standing = await store.get<Named>(`named:${named}`);
      return standing !== undefined && toKey(toPayment(standing)) === key;
    },
    close: leases.close,
  };

  /** Whether a payment that was verified before a crash would still be taken. */
  async function isStillValid({ service, payment, listed, offer }: VerifiedPurchase): Promise<boolean> {
    if (explainTime(payment, clock.now(), leastSecondsOf(service))) return false;
    deps.checkTrust(offer);
    const verdict = await railOf(rails, offer)?.facilitator.verify(listed, offer, verifyDeadline());
    return verdict?.isValid ?? false;
  }

  /** How long an identifier stands for a payment: a day longer than the payment can be settled. */
  function memoryMs({ authorization: { validBefore = 0 } }: Payment): number {
    return Math.max(0, validBefore * 1000 - clock.now()) + UNATTENDED_MS;
  }

  /** As `walk`, for one request at a time. A delivered answer needs no turn: any number of requests get it at once. */
  async function find(name: string, purchase: Purchase, steps: Steps): Promise<Outcome | undefined> {
    for (let turn = 0; ; turn += 1) {
      const known = await store.get<Named>(`named:${name}#${turn}`);
      const key = known && toKey(toPayment(known));
      const service = key && (await soldBy(known, purchase, key));
      if (!service) return exclusively(leases.claim(name), () => walk(name, purchase, steps));
      const record = await reservations.read(key);
      if (record?.state === "settled" && !record.owed) return steps.finish({ ...purchase, service, key }, record);
    }
  }

  /** Goes through the payments that the identifier has stood for, up to the one that counts. */
  async function walk(name: string, purchase: Purchase, steps: Steps): Promise<Outcome | undefined> {
    for (let turn = 0; ; turn += 1) {
      const named = `${name}#${turn}`;
      const known = await store.get<Named>(`named:${named}`);
      if (!known) return steps.buy(named);
      const service = await soldBy(known, purchase, toKey(toPayment(known)));
      if (!service) throw purchase.fault ?? new Problem("payment-conflict", OTHER);
      // The identifier gets a further payment only when this one can never be settled.
      const isOver = (await store.get(`named:${name}#${turn + 1}`)) !== undefined;
      const outcome = isOver ? undefined : await goOn({ ...purchase, service }, { named, known, steps });
      if (outcome) return outcome;
      await keepAlive(named, known, purchase.payment);
    }
  }

  /** Remembers a payment at least as long as the next one, which is only found by way of it. */
  async function keepAlive(named: string, known: Named, next: Payment): Promise<void> {
    const until = clock.now() + Math.max(memoryMs(next), memoryMs(toPayment(known)));
    if (until > (known.until ?? 0)) await store.set(`named:${named}`, { ...known, until }, until - clock.now());
  }

  /** The outcome of the identifier's payment; undefined when that payment can never be settled. */
  async function goOn(purchase: Purchase, { named, known, steps }: Turn): Promise<Outcome | undefined> {
    const payment = toPayment(known);
    const key = toKey(payment);
    if (key === purchase.key) return steps.buy(named);
    return exclusively(reservations.claimPayment(key), async () => {
      const record = await reservations.read(key);
      if (record) {
        const outcome = await steps.finish({ ...purchase, key }, record);
        const isDead = outcome.kind === "challenge" && (await reservations.read(key))?.isFinal === true;
        return isDead ? undefined : outcome;
      }
      if (await isKnownUnpaid(store, key)) return undefined;
      const { validBefore } = payment.authorization;
      const offer = known.payment.accepted;
      const { state } = await look(known.payment, offer);
      if (state === "rejected") return undefined;
      // No record: a crash came before it, or it has expired. The clocks of processes differ too much to tell which.
      const isLate = clock.now() >= (validBefore ? validBefore * 1000 : known.at + (known.keptMs ?? KEEP_MS));
      if (isLate) throw state === "settled" ? new Problem("payment-conflict", FORGOTTEN) : undecided();
      return steps.buy(named, { service: purchase.service, payment, key, offer, isSettled: state === "settled" });
    });
  }
}

/** The actions of `walk`. */
interface Steps extends Pick<Ways, "finish"> {
  /** Buys under the name `named`: with the payment at hand, or with an earlier payment of the same payer. */
  readonly buy: (
    named: string,
    earlier?: Pick<VerifiedPurchase, "service" | "payment" | "key" | "offer"> & { readonly isSettled: boolean },
  ) => Promise<Outcome | undefined>;
}

/** One payment that the identifier has stood for. */
interface Turn {
  readonly named: string;
  readonly known: Named;
  readonly steps: Steps;
}

async function exclusively<T>(claim: ReturnType<Reservations["claimPayment"]>, work: () => Promise<T>): Promise<T> {
  const lease = await claim;
  if (!lease) throw new Problem("payment-in-progress", undefined, { retryAfter: 1 });
  try {
    return await work();
  } finally {
    await lease.release().catch(() => {}); // The lease expires by itself.
  }
}

/** Cannot fail: `payment` was read before it was stored. */
const toPayment = ({ payment }: Named): Payment =>
  readPayment(payment, new Map([[payment.accepted.network, payment.accepted.network]])) as Payment;

const toKey = ({ network, authorization }: Payment): string => `${network}:${authorization.id}`;

const undecided = (): Problem => new Problem("unavailable", UNDECIDED, { retryAfter: 10 });

const OTHER =
  "The payment-identifier stands for another call of this payer; nothing was charged. Name a new one for a new call";
const FORGOTTEN =
  "The payment-identifier stands for an earlier purchase, whose answer is not kept any more; nothing was charged. Name a new one for a new call";
const UNDECIDED =
  "The payment-identifier stands for an earlier payment, of which the chain does not say yet whether it is made; nothing was charged. Repeat this request";
const NOBODY =
  "The facilitator does not say who pays, so that the payment-identifier belongs to nobody; nothing was charged";
