import type { Invocation, Outcome } from "../call.ts";
import type { Offers } from "../payments/offers/offers.ts";
import { onBehalf, perform, readValidInput } from "../perform.ts";
import type { HouseRules } from "../rules/rules.ts";
import type { Service } from "../service.ts";
import type { FreeCalls } from "./free-calls.ts";
import type { PurchaseList } from "./purchases.ts";
import type { SignedInWallet, SignIns } from "./sign-in.ts";

/** Serves calls of wallets that sign in instead of paying. */
export interface Members {
  /**
   * A call without a payment: of a service with `sign_in`, one of the wallet's free calls, or else the challenge.
   * @throws Problem as every call.
   */
  serve(service: Service, invocation: Invocation): Promise<Outcome>;
}

export interface MembersDeps {
  readonly signIns: SignIns;
  readonly freeCalls: FreeCalls;
  readonly offers: Pick<Offers, "challenge">;
  readonly rules: Pick<HouseRules, "admit">;
  readonly purchases: Pick<PurchaseList, "list">;
}

export function createMembers({ signIns, freeCalls, offers, rules, purchases }: MembersDeps): Members {
  const challenge = (service: Service, { resource, networks }: Invocation, error?: string): Outcome => ({
    kind: "challenge",
    challenge: offers.challenge(service, resource, { error, networks }),
  });

  return {
    async serve(service, invocation) {
      const { id, free, sign_in: needsSignIn } = service.manifest;
      if (invocation.signIn === undefined || !(free || needsSignIn)) return challenge(service, invocation);
      const input = await readValidInput(service, invocation);
      const wallet = await signIns.verify(invocation.signIn);
      if (typeof wallet === "string") return challenge(service, invocation, `sign_in_refused: ${wallet}`);
      const hasBought = async () => (await purchases.list(wallet.accounts, 1, { answers: false })).length > 0;
      await rules.admit(wallet.address, hasBought, invocation.signal);
      if (!free) return run(service, invocation, input, wallet);
      const giveBack = await freeCalls.take(id, free, wallet);
      if (typeof giveBack === "string") return challenge(service, invocation, `free_calls_used: ${giveBack}`);
      try {
        return await run(service, invocation, input, wallet);
      } catch (error) {
        await giveBack().catch(() => {}); // Without the store, the call counts; the failure is thrown below.
        throw error;
      }
    },
  };
}

async function run(
  service: Service,
  invocation: Invocation,
  input: unknown,
  { address, accounts }: SignedInWallet,
): Promise<Outcome> {
  const whose = service.manifest.sign_in ? { accounts } : {};
  const { id, signal } = invocation;
  const call = { id, signal, payer: address, network: undefined, ...whose };
  return { kind: "result", output: await onBehalf(invocation, () => perform(service, input, call)) };
}
