import { Problem } from "../../api/problem.ts";
import { tryParseJson } from "../../core/json.ts";
import { isEvm, type RailManifest } from "../../core/set/manifest.ts";
import type { SandboxDescription } from "../../sandbox/open-sandbox.ts";
import type { DoorReply, RpcDoor } from "../../surfaces/rpc/door.ts";
import { openPayer } from "../call/buyer-payer.ts";
import type { BuyerWallet } from "../call/buyer-wallet.ts";
import { asPaymentRequired, toOffers } from "../call/offers.ts";

/** Signs play-money payments for the explorer. The path exists only in a sandbox. */
export const SANDBOX_PAY_PATH = "/sandbox/pay";

/**
 * Signs a payment with the keys that `GET /sandbox` publishes. The body is a challenge (x402 v2, PaymentRequired). The
 * answer `{ "payment": "…" }` holds the value of PAYMENT-SIGNATURE for the first offer on one of the sandbox's rails.
 */
export function createSandboxPay(rails: readonly RailManifest[], description: SandboxDescription): RpcDoor {
  const wallet = toWallet(description);
  return {
    maxBytes: 65_536,
    async handle({ read, admit }) {
      try {
        await admit(false);
        const challenge = asPaymentRequired(tryParseJson((await read()).text));
        if (!challenge) throw new Problem("bad-request", "The body must be the challenge of a 402 (x402 version 2)");
        const [offer] = toOffers(challenge, rails).offers;
        if (!offer) throw new Problem("bad-request", "No offer of the challenge is on one of the sandbox's rails");
        const payer = await openPayer(wallet, offer);
        return toReply(200, { payment: await payer.sign(challenge) });
      } catch (error) {
        const problem = Problem.from(error);
        return toReply(problem.status, problem);
      }
    },
  };
}

function toWallet({ buyer, rpc }: SandboxDescription): BuyerWallet {
  return {
    origin: "sandbox",
    key: (rail) => (isEvm(rail) ? buyer.evm.private_key : buyer.solana.secret_key),
    rpc: ({ id }) => rpc[id],
  };
}

const toReply = (status: number, value: object): DoorReply => ({
  status,
  headers: {
    "content-type": status === 200 ? "application/json" : "application/problem+json",
    "cache-control": "no-store",
  },
  body: JSON.stringify(value),
  calls: [],
});
