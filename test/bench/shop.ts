import type { Manifest, SiteManifest } from "../../runtime/core/set/manifest.ts";
import { BASE_RAIL } from "../support/chains/scripted-rail.ts";

/** What every contestant sells: 18 routes at one price, on Base and Solana. */
export const PRICE = "0.001";
export const PATHS = Array.from({ length: 18 }, (_, at) => `/v1/service-${at + 1}`);
export const ANSWER = { value: 4, label: "treasure_drop_42", list: [1, 2, 3] };
export const CALL = { low: 1, high: 6, label: "treasure_drop_42" };
export const BODY = JSON.stringify(CALL);
export const EXAMPLE = { low: 1, high: 6 };

export const INPUT = {
  type: "object",
  properties: {
    low: { type: "integer" },
    high: { type: "integer" },
    count: { type: "integer", minimum: 1, maximum: 100, default: 1 },
    label: { type: "string", maxLength: 200 },
  },
  required: ["low", "high"],
};
export const OUTPUT = {
  type: "object",
  properties: {
    value: { type: "integer" },
    label: { type: "string" },
    list: { type: "array", items: { type: "integer" } },
  },
  required: ["value"],
};

export const PAY_TO = {
  evm: "0x2222222222222222222222222222222222222222",
  solana: "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM",
} as const;

export const SITE: SiteManifest = {
  name: "bench",
  title: "bench",
  description: "Eighteen routes for the bench.",
  version: "0.3.0",
  catalog_version: "2.0",
  contact: { name: "bench", url: "https://example.com" },
  rails: [
    BASE_RAIL,
    {
      id: "solana",
      title: "USDC on Solana",
      network: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
      asset: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
      symbol: "USDC",
      decimals: 6,
      pay_to: "SOLANA_PAYMENT_ADDRESS",
      rpc: "SOLANA_RPC_URL",
      facilitator: "remote",
      currency: "usd",
      explorer: "https://solscan.io/tx/{tx}",
    },
  ],
  yen_tiers: {},
  limits: {
    offer_seconds: 300,
    deadline_seconds: 30,
    body_bytes: 1_048_576,
    body_depth: 64,
    url_bytes: 8192,
    unpaid_per_minute: 1e9,
    unpaid_burst: 1e9,
  },
};

export const MANIFESTS: readonly Manifest[] = PATHS.map((path, at) => ({
  id: `service_${at + 1}`,
  title: `Service ${at + 1}`,
  description: "Signed, verifiable random integers in a range that you choose, for games, draws and fair selection.",
  route: `POST ${path}`,
  price: PRICE,
  handler: "bench.answer",
  input: INPUT,
  output: OUTPUT,
  tags: ["random", "bench"],
  examples: [{ input: EXAMPLE, output: ANSWER }],
}));
