import { Problem } from "../../api/problem.ts";
import { toAccount } from "../../core/account.ts";
import { isSameToken, railOfToken } from "../../core/rails/tokens.ts";
import type { OpenRefund, RefundEnd, RefundRecords } from "../../core/refunds/records.ts";
import type { RailManifest } from "../../core/set/manifest.ts";
import { toDecimal } from "../../core/set/price.ts";
import type { JobPayment } from "../../core/x402/x402.ts";
import type { RailChain } from "../books/chains.ts";

/**
 * Asks the chain whether a transaction has paid a payment back to its buyer since the refund was opened, beside what it
 * has paid back already.
 * @throws Problem `bad-request` when it has not, or when nobody can be asked; `upstream-failed` or `unavailable`
 *   when the chain does not answer.
 */
export type CheckPaid = (
  refund: Pick<OpenRefund, "payment" | "openedAt">,
  transaction: string,
  records: Pick<RefundRecords, "ends">,
) => Promise<void>;

/** By how much a chain's clock may be behind this machine's. */
const CLOCKS_MS = 5 * 60_000;

/** @param open opens the chains, as `openChains` does */
export function createCheckPaid(
  rails: readonly RailManifest[],
  open: () => Promise<(rail: RailManifest) => Pick<RailChain, "chain">>,
): CheckPaid {
  return async ({ payment, openedAt }, transaction, records) => {
    const { payer } = payment;
    if (payer === null) return; // Nobody knows whom it had to pay.
    const rail = railOfToken(rails, payment);
    if (!rail) throw unasked(`the site has no rail of the token ${payment.asset} on ${payment.network}`);
    const { chain } = (await open().catch(fail))(rail);
    if (!chain) throw unasked(`${rail.rpc} is not set`);
    const found = await chain.of(transaction, [payer]).catch(fail);
    const early = found.find(({ at }) => at > 0 && at < openedAt - CLOCKS_MS); // Some blocks have no time.
    if (early) throw tooEarly(transaction, early.at, openedAt);
    const sent = found.reduce((total, { amount }) => total + amount, 0n);
    const ends = await endsOf(records, transaction).catch(fail);
    if (ends.some(({ paid }) => !paid)) throw unsummed(transaction);
    const noted = ends
      .filter((end) => isTo(payment, end))
      .reduce((sum, { paid }) => sum + BigInt(paid?.amount ?? 0), 0n);
    if (sent - noted >= BigInt(payment.amount)) return;
    const show = (atomic: bigint): string => `${toDecimal(atomic, rail.decimals)} ${rail.symbol}`;
    const others = noted > 0n ? `, and other refunds of ${show(noted)} are noted with it` : "";
    const says = `${rail.title} shows that ${transaction} pays ${show(sent)} to ${payer}${others}`;
    throw new Problem("bad-request", `${says}; ${show(BigInt(payment.amount))} is owed. ${AWAIT} ${INSIST}`);
  };
}

export const INSIST = "Where you know better, add --unchecked";
const AWAIT = "A transaction that was sent just now shows once it is in a block.";

export function fail(cause: unknown): never {
  const { code, message } = Problem.from(cause);
  throw new Problem(code, `${message}. ${INSIST}`, { cause });
}

const tooEarly = (transaction: string, ...times: readonly [at: number, openedAt: number]): Problem => {
  const [made, opened] = times.map((time) => new Date(time).toISOString());
  return new Problem(
    "bad-request",
    `${transaction} was made at ${made}, before this refund was opened at ${opened}. ${INSIST}`,
  );
};

export const unasked = (why: string): Problem =>
  new Problem("bad-request", `The chain cannot be asked about this: ${why}. ${INSIST}`);

const unsummed = (transaction: string): Problem =>
  new Problem(
    "bad-request",
    `${transaction} is noted with another refund, of which it is not known any more how much it has paid. ${INSIST}`,
  );

async function endsOf({ ends }: Pick<RefundRecords, "ends">, transaction: string): Promise<RefundEnd[]> {
  const found: RefundEnd[] = [];
  for await (const end of ends()) if (end.transaction === transaction) found.push(end);
  return found;
}

/** Whether a refund has paid the same buyer in the same token. */
const isTo = (payment: JobPayment, { paid }: RefundEnd): boolean =>
  paid !== undefined &&
  isSameToken(paid, payment) &&
  toAccount(paid.payer ?? "") === toAccount(payment.payer as string);
