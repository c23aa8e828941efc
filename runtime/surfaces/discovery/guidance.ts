import { PATHS } from "../../core/paths.ts";
import { isJobService } from "../../core/service.ts";
import { isKept } from "../rpc/cost.ts";
import type { ShownSet } from "../schema/shown-set.ts";
import { didPathOf } from "./did.ts";

/** How an agent buys a call, for `x-guidance` (at most 4000 characters) and llms.txt. */
export function toGuidance({ services, site: { title, rails }, baseUrl }: Omit<ShownSet, "schemas">): string {
  const kept = services.some(({ manifest }) => isKept(manifest)) ? ", unless the service says that a job is not" : "";
  const ways = rails.map((rail) => `${rail.title} (${rail.network})`).join(", ");
  return [
    `${title} sells single calls to AI agents. There are no accounts and no API keys: each call is paid with x402.`,
    "Send a request without a payment: the answer is 402 with the price in `accepts` and in the PAYMENT-REQUIRED header.",
    `Sign one of the offers (${ways}) and repeat the identical request with the PAYMENT-SIGNATURE header.`,
    `A stock x402 client does both steps. An input that is refused (422) costs nothing, and neither does a call that fails: what was charged first is delivered later or paid back${kept}.`,
    "After a broken connection, a 503 `settlement-unknown` or a 502 `paid-not-delivered`, repeat the same request with the same payment: the answer is kept and you are charged once.",
    "Give each purchase an id of your own in the 402's `payment-identifier` extension: then a payment that is signed anew for the same call is not charged again.",
    ...(services.some(isJobService) ? [JOBS] : []),
    ...(services.some(({ manifest }) => manifest.sign_in || manifest.free) ? [WALLETS] : []),
    `Offers and receipts are signed (extension \`offer-receipt\`, JWS), with the keys at ${baseUrl}${didPathOf(baseUrl)}.`,
    `The same services are tools of the MCP endpoint ${baseUrl}${PATHS.mcp} and skills of the A2A agent at ${baseUrl}${PATHS.agentCard}.`,
  ].join("\n");
}

const JOBS =
  "What takes longer answers a `job_id` and a `status_url` at once: ask there, free of charge, until the status is DELIVERED or FAILED.";

const WALLETS =
  "A wallet proves itself without paying by the header SIGN-IN-WITH-X, signed for the `sign-in-with-x` extension of the 402: to see its purchases, or for calls that are free to wallets.";
