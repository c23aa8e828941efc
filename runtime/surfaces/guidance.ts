import type { SiteManifest } from "../core/manifest.ts";

/** How an agent buys a call, in a few lines: for `x-guidance` (at most 4000 characters), llms.txt and the front page. */
export function toGuidance({ title, rails }: Pick<SiteManifest, "title" | "rails">, baseUrl: string): string {
  const ways = rails.map((rail) => `${rail.title} (${rail.network})`).join(", ");
  return [
    `${title} sells single calls to AI agents. There are no accounts and no API keys: each call is paid with x402.`,
    "Send a request without a payment: the answer is 402 with the price in `accepts` and in the PAYMENT-REQUIRED header.",
    `Sign one of the offers (${ways}) and repeat the identical request with the PAYMENT-SIGNATURE header.`,
    "A stock x402 client does both steps. An input that is refused (422) and a call that fails are never charged.",
    "After a broken connection or a 503 `settlement-unknown`, repeat the same request with the same payment: the answer is kept and you are charged once.",
    `The same services are tools of the MCP endpoint ${baseUrl}/mcp and skills of the A2A agent at ${baseUrl}/.well-known/agent-card.json.`,
  ].join("\n");
}
