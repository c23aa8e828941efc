import { Problem } from "../../api/problem.ts";
import { railOfToken } from "../../core/rails/tokens.ts";
import type { RailManifest } from "../../core/set/manifest.ts";
import type { JobPayment } from "../../core/x402/x402.ts";
import type { RailChain } from "../books/chains.ts";
import { fail, INSIST, unasked } from "./check-paid.ts";

/**
 * Asks the chain whether a payment was undone for good: not made, and its authorization can be used no more.
 * @throws Problem `bad-request` when it was not, or when nobody can be asked; `upstream-failed` or `unavailable` when the
 *   chain does not answer.
 */
export type CheckUndone = (payment: JobPayment) => Promise<void>;

const ASK_MS = 60_000;

/** @param open opens the chains, as `openChains` does */
export function createCheckUndone(
  rails: readonly RailManifest[],
  open: () => Promise<(rail: RailManifest) => Pick<RailChain, "settlements">>,
): CheckUndone {
  return async (payment) => {
    const { network, asset, amount, transaction, signed } = payment;
    const rail = railOfToken(rails, payment);
    if (!rail) throw unasked(`the site has no rail of the token ${asset} on ${network}`);
    const { settlements } = (await open().catch(fail))(rail);
    if (!settlements || !signed) throw unasked(`${rail.rpc} is not set`);
    const { to: payTo, validBefore } = signed.authorization;
    const offer = { scheme: "exact", network, asset, amount, payTo, maxTimeoutSeconds: 0, extra: {} };
    const sent = { x402Version: 2, accepted: offer, payload: { ...signed } } as const;
    const found = await settlements.find(sent, offer, AbortSignal.timeout(ASK_MS), transaction).catch(fail);
    if (found.state === "dead") return;
    const until = new Date(Number(validBefore) * 1000).toISOString();
    const why =
      found.state === "settled"
        ? `${rail.title} shows the payment in ${found.transaction}: it has to be paid back`
        : `The payment can still be made: its authorization is valid until ${until}`;
    throw new Problem("bad-request", `${why}. ${INSIST}`);
  };
}
