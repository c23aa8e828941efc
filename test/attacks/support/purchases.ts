import { randomUUID } from "node:crypto";
import { expect } from "chai";
import type { PaymentRequired } from "../../../runtime/core/x402/x402.ts";
import type { TestSandbox } from "../../support/chains/chains.ts";
import { encode } from "../../support/sellers/signed.ts";
import { json, receiptOf, stockClient } from "../../support/sellers/stock-buyer.ts";

/** What can be bought: paid last, paid first, a job, and a job that fails and is paid back. */
export type Ware = "draw" | "chore" | "errand" | "failing";

/** A payment that was made, and what has become of it. */
export interface Purchase {
  readonly ware: Ware;
  readonly what: string;
  /** The PAYMENT-SIGNATURE header. */
  readonly payment: string;
  /** The statuses of the answers that were not the last one, in their order. */
  readonly statuses: number[];
  /** The body of the 200, and its transaction. */
  answer?: { readonly body: unknown; readonly transaction: string };
}

export interface Buyer {
  /** Signs a payment, which nobody has seen yet. */
  order(ware: Ware): Promise<Purchase>;
  /** Sends it once. Gives its status, or 0 when nothing came back. */
  send(purchase: Purchase, url: string): Promise<number>;
}

const PATH = { draw: "/v1/draw", chore: "/v1/chore", errand: "/v1/errand", failing: "/v1/errand" };
/** Longer than any call takes. */
const PATIENCE_MS = 60_000;

/** The sandbox's buyer. It takes its offers from `url` beforehand, and asks nobody for them afterwards. */
export async function openBuyer(sandbox: TestSandbox, url: string): Promise<Buyer> {
  const client = await stockClient(sandbox, "base");
  const challenges = new Map<string, PaymentRequired>();
  for (const path of Object.values(PATH)) {
    const response = await fetch(url + path, { method: "POST" });
    challenges.set(path, (await response.json()) as PaymentRequired);
  }

  return {
    async order(ware) {
      const challenge = challenges.get(PATH[ware]) as Parameters<typeof client.createPaymentPayload>[0];
      const payload = await client.createPaymentPayload(challenge);
      const payment = encode(payload);
      return { ware, what: randomUUID(), payment, statuses: [] };
    },
    async send(purchase, to) {
      const answer = await receive(purchase, to).catch(() => undefined);
      if (answer?.status !== 200) {
        purchase.statuses.push(answer?.status ?? 0);
        return answer?.status ?? 0;
      }
      const { body, transaction } = answer;
      if (purchase.answer) expect({ body, transaction }, "the same answer, for ever").to.deep.equal(purchase.answer);
      purchase.answer = { body, transaction };
      return 200;
    },
  };
}

async function receive({ ware, what, payment }: Purchase, url: string) {
  const { headers, ...init } = json({ what, ...(ware === "failing" && { fail: true }) });
  const response = await fetch(url + PATH[ware], {
    ...init,
    headers: { ...(headers as Record<string, string>), "payment-signature": payment },
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  const body: unknown = await response.json();
  const transaction = response.status === 200 ? receiptOf(response).transaction : "";
  return { status: response.status, body, transaction };
}
