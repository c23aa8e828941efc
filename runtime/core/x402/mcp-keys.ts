/** The keys of `_meta` for payments over MCP (x402 transport MCP, and its extensions). */
export const MCP_KEYS = {
  payment: "x402/payment",
  receipt: "x402/payment-response",
  /** Beside `structuredContent`: Cloudflare's `agents` client reads the challenge from this key only. */
  challenge: "x402/error",
  /** The signed offers (extension `offer-receipt`) are outside the challenge, because payers would echo them. */
  offers: "x402/offer-receipt",
  signIn: "x402/sign-in-with-x",
} as const;
