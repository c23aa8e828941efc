/**
 * The limits of signed peer requests. The agent card publishes them; `peer/hello` answers their digest, so that a peer
 * notices a change.
 */
export const PEER_POLICY = {
  /** The size of an envelope's `body` in canonical form. */
  max_body_bytes: 16_384,
  /** How far ahead an envelope's `exp` may lie. */
  max_exp_seconds: 300,
  /** How long a nonce is remembered: longer than any envelope, or the quote made from it, is valid. */
  nonce_seconds: 960,
  quote_seconds: 900,
  /** How long after a quote its receipt is available. */
  receipt_seconds: 86_400,
  requests_per_minute_and_client: 300,
  requests_per_minute_and_peer: 60,
  card_bytes: 262_144,
  card_timeout_seconds: 5,
  card_seconds: 3600,
  card_failure_seconds: 60,
  card_fetches_per_minute: 20,
  card_fetches_per_minute_and_client: 5,
} as const;
