/** The paths that payphone itself serves; `assets` and `reports` are folders. Manifests must not use them. */
export const PATHS = {
  front: "/",
  health: "/health",
  ready: "/ready",
  openApi: "/openapi.json",
  explorer: "/docs",
  assets: "/docs/",
  llms: "/llms.txt",
  robots: "/robots.txt",
  discovery: "/.well-known/x402",
  serverCard: "/.well-known/mcp/server-card.json",
  /** A2A 0.3, section 5.3; peers publish their card at the same path. */
  agentCard: "/.well-known/agent-card.json",
  /** The same document, where clients of A2A 0.2 look for it. */
  oldAgentCard: "/.well-known/agent.json",
  jwks: "/.well-known/jwks.json",
  did: "/.well-known/did.json",
  /** The same document where the base URL has a path (did:web, section 3.2). */
  didBelowPath: "/did.json",
  iconSvg: "/icon.svg",
  iconPng: "/icon.png",
  favicon: "/favicon.ico",
  mcp: "/mcp",
  a2a: "/v1/a2a",
  sandbox: "/sandbox",
  reports: "/reports/",
} as const;
