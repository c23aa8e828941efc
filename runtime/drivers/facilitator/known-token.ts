import { Problem } from "../../api/problem.ts";
import type { Facilitator } from "../../core/x402/x402.ts";
import type { EvmClient } from "../evm/client.ts";
import { checkToken, type TokenFacts } from "./local-token.ts";

/** Less than the time a facilitator has to answer: a silent node must not take the rail down. */
const CHECK_MS = 1500;

/**
 * A facilitator that is up only when its token is what the configuration says: with other decimals, every price would be
 * another one. `supported` throws Problem `unavailable` when the token differs, or the node is of another chain.
 */
export function withToken(facilitator: Facilitator, client: EvmClient, token: TokenFacts): Facilitator {
  let isChecked = false;
  const check = async (): Promise<void> => {
    const difference = await checkToken(client, token, AbortSignal.timeout(CHECK_MS));
    if (difference !== undefined) throw new Problem("unavailable", difference);
    isChecked = true;
  };
  return {
    ...facilitator,
    async supported(signal) {
      const checked = isChecked || check().catch((error: unknown) => error); // What is not known counts as right.
      const kinds = await facilitator.supported(signal);
      const difference = await checked;
      if (difference instanceof Problem && difference.code === "unavailable") throw difference;
      return kinds;
    },
  };
}
