import { setTimeout as sleep } from "node:timers/promises";
import { decodePaymentSignatureHeader, encodePaymentSignatureHeader } from "@x402/core/http";
import type { PaymentRequired } from "@x402/core/types";
import { Problem } from "../../api/problem.ts";
import { digestOf } from "../../core/digest.ts";
import type { RailManifest } from "../../core/set/manifest.ts";
import { MCP_KEYS } from "../../core/x402/mcp-keys.ts";
import { openPayer } from "../call/buyer-payer.ts";
import type { BuyerWallet } from "../call/buyer-wallet.ts";
import { nameIn } from "../call/identifier.ts";
import { checkArguments } from "../call/input-check.ts";
import { chooseOffer, refuseToPay, toOffers, worth } from "../call/offers.ts";
import type { DailyBudget } from "./budget.ts";
import type { LostPayments, SentPayment, ToolPayment } from "./lost.ts";
import {
  challengeIn,
  isUndecided,
  refusalIn,
  secondsToRetry,
  type ToolResult,
  toFailure,
  toRefusedCall,
  transactionIn,
} from "./results.ts";

/** The parameters of `tools/call`. */
export interface ToolRequest {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

export interface PurchaseDeps {
  /** Sends a call to the seller. @throws when no answer came. */
  readonly ask: (call: ToolRequest, signal: AbortSignal) => Promise<ToolResult>;
  /** The newest known input schema of a tool; with `isFresh`, asked for again. Undefined when there is none. */
  readonly schemaOf: (tool: string, signal: AbortSignal, isFresh: boolean) => Promise<unknown>;
  readonly openWallet: (signal: AbortSignal) => Promise<BuyerWallet>;
  readonly rails: readonly RailManifest[];
  readonly budget: DailyBudget;
  readonly lost: LostPayments;
  /** Prints one line for the person who runs the proxy. */
  readonly say: (text: string) => void;
  readonly now: () => number;
  /** For how long after the beginning of a call its payment is repeated while there is no final answer. */
  readonly patienceMs: number;
}

/** How long a call may take. */
interface Terms {
  /** Aborted when the caller leaves. */
  readonly signal: AbortSignal;
  /** Unix milliseconds. */
  readonly until: number;
}

/** The shortest time for which a payment without an answer is remembered. */
const KEPT_MS = 15 * 60_000;
/** Clients that give up without cancelling wait for longer; calls that are meant to be several are closer together. */
const SILENT_MS = 4000;

/** A call whose payment is on its way. */
interface Running {
  /** Digest of tool and arguments. */
  readonly call: string;
  /** Since when its latest caller waits. Unix milliseconds. */
  since: number;
  readonly signal: AbortSignal;
  readonly answer: Promise<ToolResult>;
}

/**
 * Calls tools, and pays for those that require payment. A payment whose answer was lost is sent again unchanged when
 * the same tool is called with the same arguments, so the call is charged once.
 */
export function createPurchases(deps: PurchaseDeps): (call: ToolRequest, signal: AbortSignal) => Promise<ToolResult> {
  const { ask, budget, lost, rails, say, now, patienceMs } = deps;
  /** Whether the seller has taken a payment as base64 text: Cloudflare's servers take no object. */
  let takesText = false;
  const running = new Set<Running>();

  return async function call(tool, signal) {
    const since = now();
    const terms = { signal, until: since + patienceMs };
    const digest = digestOfCall(tool);
    const silent = join(digest, since);
    if (silent) return silent;
    const left = lost.take(tool, signal);
    if (left) return run({ call: digest, since, signal, answer: deliver(tool, left, terms, true) });
    const first = await ask(tool, signal);
    const challenge = challengeIn(first);
    if (!challenge) return first;
    const buy = async (): Promise<ToolResult> => {
      await check(tool, signal);
      const sent = await sign(tool, { challenge, unpaid: refusalIn(first) }, signal);
      return deliver(tool, sent, terms);
    };
    return join(digest, since) ?? run({ call: digest, since, signal, answer: buy() }); // Others have asked meanwhile.
  };

  /** The answer to the same call of a client that has given up without cancelling it, as Python's SDK does: one purchase. */
  function join(digest: string, since: number): Promise<ToolResult> | undefined {
    const silent = [...running].find(
      (one) => one.call === digest && Math.abs(since - one.since) >= SILENT_MS && !one.signal.aborted,
    );
    if (silent) silent.since = Math.max(silent.since, since);
    return silent?.answer;
  }

  function run(one: Running): Promise<ToolResult> {
    running.add(one);
    return one.answer.finally(() => running.delete(one));
  }

  /** Checks the arguments before anything is signed. @throws Problem `invalid-input`. */
  async function check({ name, arguments: given = {} }: ToolRequest, signal: AbortSignal): Promise<void> {
    try {
      checkArguments(await deps.schemaOf(name, signal, false), given);
    } catch {
      checkArguments(await deps.schemaOf(name, signal, true), given); // The seller may have changed the tool.
    }
  }

  /** Signs a payment, and keeps it. @throws Problem when that is not possible: then it does not count. */
  async function sign(
    tool: ToolRequest,
    { challenge, unpaid }: { readonly challenge: PaymentRequired } & Pick<ToolPayment, "unpaid">,
    signal: AbortSignal,
  ): Promise<SentPayment> {
    const wallet = await deps.openWallet(signal);
    const { offers } = toOffers(challenge, rails);
    // Only dollar prices can be compared with the limits.
    const inDollars = offers.filter(({ rail }) => rail.currency === "usd");
    if (inDollars.length === 0 && offers[0]) refuseToPay(`${tool.name} costs ${offers[0].rail.symbol}, not dollars`);
    const offer = chooseOffer(inDollars, { rail: undefined, hasKey: (rail) => wallet.key(rail) !== undefined });
    const payer = await openPayer(wallet, offer);
    const takeBack = await budget.spend(worth(offer), tool.name);
    try {
      signal.throwIfAborted();
      const header = await payer.sign(nameIn(challenge, undefined).challenge);
      const lifeMs = offer.requirements.maxTimeoutSeconds * 1000;
      const until = now() + Math.max(KEPT_MS, lifeMs);
      const sent = lost.keep(tool, { payment: decodePaymentSignatureHeader(header), until, unpaid }, signal);
      const { amount, rail, requirements } = offer;
      say(`${tool.name}: paying ${amount} ${rail.symbol} (${rail.title}) to ${requirements.payTo}`);
      return sent;
    } catch (error) {
      await takeBack().catch(() => {}); // Then it counts.
      throw error;
    }
  }

  /** @param wasLost whether an answer to this payment was lost before */
  async function deliver(tool: ToolRequest, sent: SentPayment, terms: Terms, wasLost = false): Promise<ToolResult> {
    const { answer, isUnsure } = await send(tool, sent, terms).catch((error: unknown) => {
      sent.lost();
      throw error;
    });
    if (terms.signal.aborted) sent.lost();
    else sent.answered();
    return finish(tool, answer, wasLost || isUnsure);
  }

  /** Sends a payment until the answer is final; `isUnsure` when one was lost, or left open what has moved. @throws Problem `settlement-unknown`. */
  async function send(
    tool: ToolRequest,
    { payment, unpaid }: SentPayment,
    { signal, until }: Terms,
  ): Promise<{ readonly answer: ToolResult; readonly isUnsure: boolean }> {
    let isUnsure = false;
    let isText = takesText;
    for (let pause = 1; ; pause = Math.min(pause * 2, 10)) {
      const form = isText ? encodePaymentSignatureHeader(payment) : payment;
      const paid = { ...tool, _meta: { ...tool._meta, [MCP_KEYS.payment]: form } };
      const answer = await ask(paid, signal).catch((error: Error) => toRefusedCall(error) ?? error);
      const seconds = answer instanceof Error ? pause : secondsToRetry(answer);
      if (!(answer instanceof Error) && seconds === undefined) {
        // A seller who answers as without a payment has not read it in this form.
        const isUnread = unpaid !== undefined && refusalIn(answer) === unpaid;
        if (!isUnread || isText) {
          takesText = isText && !isUnread;
          return { answer, isUnsure };
        }
        isText = true;
        continue;
      }
      isUnsure ||= answer instanceof Error || isUndecided(answer);
      const why = answer instanceof Error ? answer.message : "the seller has no result yet";
      const pauseMs = (seconds ?? pause) * 1000;
      if (signal.aborted || now() + pauseMs > until) throw unknown(tool, why);
      say(`${tool.name}: ${why}; the same payment is sent again`);
      await sleep(pauseMs, undefined, { signal }).catch(() => {
        throw unknown(tool, "interrupted");
      });
    }
  }

  function finish(tool: ToolRequest, answer: ToolResult, isUnsure: boolean): ToolResult {
    const why = refusalIn(answer);
    const perhaps = isUnsure
      ? " What became of an earlier attempt is not known: the payment may have been taken then."
      : "";
    if (why !== undefined)
      return toFailure(`The payment for ${tool.name} was refused: ${why}. It counts against today's budget.${perhaps}`);
    const transaction = transactionIn(answer);
    say(`${tool.name}: ${transaction ? `paid, transaction ${transaction}` : "the seller sent no receipt"}`);
    return answer;
  }
}

const unknown = ({ name }: ToolRequest, why: string): Problem =>
  new Problem(
    "settlement-unknown",
    `the payment for ${name} was sent, and its outcome is not known (${why}). Call the tool again with the same ` +
      "arguments within 15 minutes: the same payment is sent, and nothing new is charged.",
  );

/** @throws Problem `invalid-input` for what has no canonical form (RFC 8785), such as a number that JSON cannot hold. */
function digestOfCall({ name, arguments: given = {} }: ToolRequest): string {
  try {
    return digestOf([name, given]);
  } catch (cause) {
    const why = "a text has half of a character (a lone surrogate), or a number is larger than 1.8e308";
    throw new Problem("invalid-input", `the arguments of ${name} cannot be sent: ${why}. Nothing was paid.`, { cause });
  }
}
