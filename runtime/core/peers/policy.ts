/**
 * What the peer door holds every peer to. It is published in the agent card, and `peer/hello` answers its digest, so that
 * a peer notices when it changes.
 */
export const PEER_POLICY = {
  /** Of the canonical form of an envelope's `body`. */
  max_body_bytes: 16_384,
  /** How far ahead an envelope's `exp` may lie. */
  max_exp_seconds: 300,
  /** How long a nonce is remembered; longer than any envelope lives, and than any quote that came of it. */
  nonce_seconds: 960,
  quote_seconds: 900,
  /** How long a quote can be receipted. */
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
