import { setTimeout as sleep } from "node:timers/promises";
import type { PrivateKeyAccount } from "viem/accounts";
import { isResult, obtain, type PaidCall, type SellerAnswer, send, sign } from "./buyer.ts";
import type { ScriptedFacilitator } from "./facilitator.ts";
import type { Money } from "./money.ts";

/** A seller under attack. */
export interface Target {
  readonly call: PaidCall;
  /** The same route with another body; both bodies are valid. */
  readonly swapped: PaidCall | undefined;
  /** Another route of the same price. */
  readonly other: PaidCall | undefined;
  readonly facilitator: ScriptedFacilitator;
  readonly money: Money;
  /** An account with money; a new one for each attack where the money is imaginary. */
  readonly account: () => Promise<PrivateKeyAccount>;
  /** How often the sold work ran so far, where the seller tells. */
  readonly runs?: (() => Promise<number>) | undefined;
}

export interface Finding {
  readonly verdict: "held" | "broken" | "not tried";
  readonly happened: string;
}

export interface Attack {
  readonly title: string;
  readonly run: (target: Target) => Promise<Finding>;
}

const COPIES = 50;
/** The seller's handler is at work then, or its settlement is under way. */
const DISCONNECT_MS = 50;
/** When the buyer is back: whatever the seller has begun is over. */
const RETURN_MS = 3000;

/** Every attack of the battery, in the order of its table. */
export const ATTACKS: readonly Attack[] = [
  { title: "The answer is lost, and the buyer asks again with the same payment", run: loseAnswer },
  { title: "The facilitator settles and never answers", run: (target) => settleThen(target, "hang") },
  { title: "The facilitator settles and answers 500", run: (target) => settleThen(target, "500") },
  { title: `${COPIES} copies of one payment at once`, run: copyPayment },
  {
    title: "One payment on two routes, at once and one after the other",
    run: (target) => spread(target, target.other),
  },
  {
    title: "One payment for two bodies, at once and one after the other",
    run: (target) => spread(target, target.swapped),
  },
  { title: "The buyer disconnects while the call is in flight", run: disconnect },
  { title: "The authorization is cancelled between verify and settle", run: cancel },
];

async function loseAnswer({ call, facilitator, account }: Target): Promise<Finding> {
  const payment = await sign(await account(), call);
  const lost = await send(call, payment);
  const again = await obtain(call, payment);
  if (isResult(lost) && isResult(again) && lost.text !== again.text)
    return { verdict: "broken", happened: "the second answer is another result: the work ran twice for one payment" };
  return judgeDelivery(facilitator.transfersOf(payment.nonce), again);
}

async function settleThen({ call, facilitator, account }: Target, afterSettle: "hang" | "500"): Promise<Finding> {
  const payment = await sign(await account(), call);
  facilitator.script(payment.nonce, { afterSettle });
  const first = await send(call, payment);
  const last = isResult(first) ? first : await obtain(call, payment);
  return judgeDelivery(facilitator.transfersOf(payment.nonce), last);
}

async function copyPayment(target: Target): Promise<Finding> {
  const { call, facilitator, account } = target;
  const payment = await sign(await account(), call);
  const counted = countRuns(target);
  const answers = await Promise.all(Array.from({ length: COPIES }, () => send(call, payment)));
  if (!answers.some(isResult)) answers.push(await obtain(call, payment));
  return judgeResults({
    payments: 1,
    transfers: facilitator.transfersOf(payment.nonce),
    answers,
    runs: await counted(),
  });
}

/** One payment for two calls: first both at once, then, with a new payment, one after the other. */
async function spread(target: Target, second: PaidCall | undefined): Promise<Finding> {
  if (!second) return { verdict: "not tried", happened: "no second call was named" };
  const { call, facilitator, account } = target;
  const buyer = await account();
  const counted = countRuns(target);
  const atOnce = await sign(buyer, call);
  const answers = await Promise.all([send(call, atOnce), send(second, atOnce)]);
  const inTurn = await sign(buyer, call);
  answers.push(await send(call, inTurn), await send(second, inTurn));
  const transfers = facilitator.transfersOf(atOnce.nonce) + facilitator.transfersOf(inTurn.nonce);
  return judgeResults({ payments: 2, transfers, answers, runs: await counted() });
}

async function disconnect({ call, facilitator, account }: Target): Promise<Finding> {
  const payment = await sign(await account(), call);
  const leaving = new AbortController();
  const onVerify = async (): Promise<void> => void setTimeout(() => leaving.abort(), DISCONNECT_MS);
  facilitator.script(payment.nonce, { onVerify });
  await send(call, payment, leaving.signal);
  await sleep(RETURN_MS);
  const answer = await obtain(call, payment);
  return judgeDelivery(facilitator.transfersOf(payment.nonce), answer);
}

async function cancel(target: Target): Promise<Finding> {
  const { call, facilitator, money, account } = target;
  const payment = await sign(await account(), call);
  let isCancelled = false;
  facilitator.script(payment.nonce, {
    async onVerify(request) {
      if (!isCancelled) await money.cancel(request);
      isCancelled = true;
    },
  });
  const counted = countRuns(target);
  const answers = [await send(call, payment), await send(call, payment)];
  return judgeResults({
    payments: 1,
    transfers: facilitator.transfersOf(payment.nonce),
    answers,
    runs: await counted(),
  });
}

/** Counts the runs of the work from now on; undefined where the seller does not tell. */
function countRuns({ runs }: Target): () => Promise<number | undefined> {
  const before = runs?.();
  return async () => (before && runs ? (await runs()) - (await before) : undefined);
}

/** Whoever has paid must get the result with the same payment, and must have paid once. */
function judgeDelivery(transfers: number, answer: SellerAnswer): Finding {
  const asked = isResult(answer) ? "the result came" : `no result: ${toStatus(answer)}`;
  const isFair = transfers === (isResult(answer) ? 1 : 0);
  return { verdict: isFair ? "held" : "broken", happened: `paid ${toTimes(transfers)}, ${asked}` };
}

interface Bought {
  /** How many were signed. */
  readonly payments: number;
  readonly transfers: number;
  readonly answers: readonly SellerAnswer[];
  readonly runs: number | undefined;
}

/**
 * As many results as transfers, and at most one run of the work for each payment that was signed. Copies of one answer are
 * one result.
 */
function judgeResults({ payments, transfers, answers, runs }: Bought): Finding {
  const results = new Set(answers.filter(isResult).map(({ text }) => text)).size;
  const isFair = results === transfers && (runs ?? 0) <= payments;
  const work = runs === undefined ? "" : `, the work ran ${runs === 0 ? "not at all" : toTimes(runs)}`;
  const got = `${toCount(transfers, "transfer")}, ${toCount(results, "result")}`;
  return { verdict: isFair ? "held" : "broken", happened: `${toCount(payments, "payment")} signed: ${got}${work}` };
}

const toTimes = (count: number): string => (count === 0 ? "nothing" : count === 1 ? "once" : `${count} times`);
const toCount = (count: number, noun: string): string => `${count || "no"} ${noun}${count === 1 ? "" : "s"}`;
const toStatus = ({ status }: SellerAnswer): string =>
  status === 0 ? "no answer in time" : `${status} to every retry`;
