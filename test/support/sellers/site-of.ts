/** A `_site.yaml` with these upstreams, each given as the YAML of a list item. */
export const siteOf = (...upstreams: readonly string[]): string => `name: stall
title: The stall
description: Sells what others make.
version: 1.0.0
catalog_version: "1.0"
contact: { name: The tests, url: https://example.com/stall }
rails:
  - id: base
    title: USDC on Base
    network: eip155:8453
    asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
    symbol: USDC
    decimals: 6
    pay_to: BASE_PAYMENT_ADDRESS
    rpc: BASE_RPC_URL
    facilitator: remote
    domain: { name: USD Coin, version: "2" }
    currency: usd
    explorer: https://basescan.org/tx/{tx}
yen_tiers: {}
upstreams:
${upstreams.map((upstream) => `  - ${upstream}\n`).join("")}limits:
  offer_seconds: 300
  deadline_seconds: 20
  body_bytes: 65536
  body_depth: 64
  url_bytes: 8192
  unpaid_per_minute: 60000
  unpaid_burst: 10000
`;
