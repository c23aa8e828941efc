// Generated from manifests/ and schemas/ by "payphone types". Do not edit.

/**
 * What to anchor: exactly one of `hash` and `data`.
 */
export interface AnchorRequest {
  /**
   * A hash that you computed: 32 bytes as 64 hex characters, no 0x prefix. What it is a hash of stays with you. Give this or `data`, not both.
   */
  hash?: string | null;
  /**
   * Any JSON value, to be canonicalized by RFC 8785 (JCS) and hashed with SHA-256 here. Only the hash is written; the data is not kept. Numbers are IEEE 754 doubles, as in JCS; text must be well-formed Unicode. null means absent. Give this or `hash`, not both.
   */
  data?: unknown;
  /**
   * A remark of your own, returned in the answer. It is not written to any chain.
   */
  note?: string | null;
}

/**
 * A hash that now stands on Base, and on Solana if that succeeded as well.
 */
export interface AnchorResponse {
  /**
   * The hash that was anchored: 64 lower-case hex characters. On Base it is the transaction's whole calldata, on Solana its memo.
   */
  merkle_root: string;
  /**
   * The transaction on Base. It alone proves that the hash existed.
   */
  base: ChainAnchor;
  /**
   * The transaction on Solana, or null when that side failed.
   */
  solana?: ChainAnchor | null;
  /**
   * Unix seconds when the transactions were broadcast.
   */
  anchored_at: number;
  /**
   * The request's note.
   */
  note?: string | null;
}

/**
 * A decision to attest, signed by you or, without a signature, by the service's treasury. The signed message is four lines joined by \n, without one at the end: `<service_name>/attest/v1`, `input=<input_hash>`, `output=<output_hash>`, `decision=<decision>`, with the hashes in lower case.
 */
export interface AttestRequest {
  /**
   * SHA-256 of what the agent was given: 64 hex characters, no 0x prefix.
   */
  input_hash: string;
  /**
   * SHA-256 of what the agent answered or decided: 64 hex characters, no 0x prefix.
   */
  output_hash: string;
  /**
   * A short label of the decision, in your own words, such as `approved`.
   */
  decision: string;
  /**
   * How `signature` was made: `eip191` (EVM personal_sign over the message) or `ed25519` (a detached signature over its UTF-8 bytes, as Solana wallets make). Required with a signature, ignored without.
   */
  scheme?: "eip191" | "ed25519" | null;
  /**
   * Your signature of the message: 0x-prefixed hex for `eip191`, base58 for `ed25519`. Left out, the treasury signs in your place and the receipt says `signed_by: treasury`.
   */
  signature?: string | null;
  /**
   * The Solana public key in base58. Required for `ed25519`; ignored for `eip191`, where the address is recovered from the signature.
   */
  signer_pubkey?: string | null;
  /**
   * Who must have signed, if you want that checked: an EVM address for `eip191`, the public key for `ed25519`. An address may be a smart account on Base (ERC-1271 or ERC-6492), whose code is then asked. Ignored without a signature.
   */
  signer?: string | null;
}

/**
 * An attestation receipt. Posted as it is to `verify_url`, it is verified again, free of charge.
 */
export interface AttestResponse {
  /**
   * SHA-256 of the signed message, 64 hex characters: the hash that was anchored.
   */
  merkle_root: string;
  /**
   * True: the signature was verified before anything was anchored.
   */
  signer_verified: boolean;
  /**
   * Who signed: the EVM address (recovered, or the smart account that was named), or the Solana public key.
   */
  signer: string;
  /**
   * The transaction on Base that carries the root.
   */
  base?: ChainAnchor | null;
  /**
   * The transaction on Solana, or null when that side failed; the one on Base still proves the receipt.
   */
  solana?: ChainAnchor | null;
  /**
   * The decision as it was signed.
   */
  decision: string;
  /**
   * Unix seconds when the signature was made here or verified here.
   */
  signed_at: number;
  /**
   * `caller` when you supplied the signature, `treasury` when the service signed in your place.
   */
  signed_by?: "caller" | "treasury";
  /**
   * Where anybody can have this receipt verified again: POST it there.
   */
  verify_url?: string | null;
  /**
   * The input hash as it was signed, in lower case.
   */
  input_hash: string;
  /**
   * The output hash as it was signed, in lower case.
   */
  output_hash: string;
  /**
   * How the signature was made.
   */
  scheme: "eip191" | "ed25519";
  /**
   * The signature: yours, or the treasury's.
   */
  signature: string;
  /**
   * The Solana public key for `ed25519`, otherwise null.
   */
  signer_pubkey?: string | null;
  /**
   * The Base transaction's hash once more, under the name that verification asks for.
   */
  base_tx: string;
}

/**
 * An attestation receipt, or the fields of one, to be checked against the chain. Other fields of a receipt may stand beside these.
 */
export interface AttestVerifyRequest {
  /**
   * SHA-256 of what the agent was given: 64 hex characters, no 0x prefix.
   */
  input_hash: string;
  /**
   * SHA-256 of what the agent answered or decided: 64 hex characters, no 0x prefix.
   */
  output_hash: string;
  /**
   * A short label of the decision, in your own words, such as `approved`.
   */
  decision: string;
  /**
   * The receipt's scheme.
   */
  scheme: "eip191" | "ed25519";
  /**
   * The receipt's signature: 0x-prefixed hex for `eip191`, base58 for `ed25519`.
   */
  signature: string;
  /**
   * The Solana public key in base58. Required for `ed25519`, ignored for `eip191`.
   */
  signer_pubkey?: string | null;
  /**
   * The receipt's signer. When given, `signature_valid` also demands that it was this signer, which may be a smart account on Base (ERC-1271 or ERC-6492, as its code answers now). Left out, the signer is whoever the signature yields: compare it with whom you expect.
   */
  signer?: string | null;
  /**
   * The hash of the Base transaction that carries the root.
   */
  base_tx: string;
}

/**
 * What a receipt is worth, read from the chain now. An invalid receipt is no error: the flags say what is wrong with it.
 */
export interface AttestVerifyResponse {
  /**
   * True only if `signature_valid`, `anchor_confirmed` and `root_matches` are all true.
   */
  valid: boolean;
  /**
   * The root recomputed from the posted fields: 64 hex characters.
   */
  merkle_root: string;
  /**
   * The signature verifies over the recomputed message, and is `signer`'s if a signer was given. For `eip191` every well-formed signature yields some address: look at `signer`.
   */
  signature_valid: boolean;
  /**
   * Who signed: the recovered EVM address, the named smart account, or the Solana public key. `unknown` when no signer can be recovered.
   */
  signer: string;
  /**
   * `base_tx` is mined on Base, succeeded, and is an anchor: its calldata is one hash of 32 bytes. Any account may have sent it, because an anchor proves a time and not an author.
   */
  anchor_confirmed: boolean;
  /**
   * The calldata of `base_tx` is exactly `merkle_root`.
   */
  root_matches: boolean;
  /**
   * The Base block of a confirmed anchor, otherwise null.
   */
  anchored_at_block?: number | null;
  /**
   * That block's time in Unix seconds, otherwise null.
   */
  anchored_at_time?: number | null;
  /**
   * The finding in a sentence or two.
   */
  notes: string;
}

/**
 * Where a hash stands on one chain.
 */
export interface ChainAnchor {
  /**
   * The transaction: a 0x-prefixed hash on Base, a base58 signature on Solana.
   */
  tx: string;
  /**
   * A page about the transaction, for people.
   */
  explorer_url: string;
}

/**
 * The moment as a clock and a calendar on the wall of the zone show it.
 */
export interface DatetimeComponents {
  /**
   * Year.
   */
  year: number;
  /**
   * Month, 1 = January.
   */
  month: number;
  /**
   * Day of the month.
   */
  day: number;
  /**
   * Hour.
   */
  hour: number;
  /**
   * Minute.
   */
  minute: number;
  /**
   * Second.
   */
  second: number;
  /**
   * Day of the week, 0 = Monday.
   */
  weekday: number;
  /**
   * English name of the weekday.
   */
  day_name: string;
}

/**
 * A text that names a moment, and what it is relative to.
 */
export interface DatetimeParseRequest {
  /**
   * The text: a machine format (ISO 8601 or RFC 9557 with calendar, week or ordinal dates, RFC 5322 mail dates, HTTP dates, Unix time in seconds or finer), or English such as `next Friday at 3pm`, `two weeks after 5 March 2027`, `last Monday of next month`. Text that is understood only in part is refused. A date without a time means the first moment of that day, a period (`March 2027`, `next week`) its first moment, and `end of` a period its last second.
   */
  input: string;
  /**
   * ISO 8601: the moment that the text is relative to. Without an offset it is read in `timezone`. Left out, it is now.
   */
  base_time?: string | null;
  /**
   * IANA time-zone name, such as `America/New_York`. Texts that name no zone of their own are read in it, and the answer is given in it.
   */
  timezone: string;
}

/**
 * The moment that the text names.
 */
export interface DatetimeParseResponse {
  /**
   * ISO 8601 with the zone's offset at that moment, such as `2027-03-05T15:00:00-05:00`.
   */
  iso: string;
  /**
   * Unix seconds, rounded down.
   */
  unix: number;
  /**
   * The IANA zone of the answer: the request's.
   */
  timezone: string;
  /**
   * The same moment in parts.
   */
  components: DatetimeComponents;
  /**
   * Whole seconds from the base time; negative when the moment lies before it.
   */
  relative_seconds: number;
  /**
   * The same in words and rounded: `in 3 days`, `2 hours ago`, `now`.
   */
  relative_human: string;
  /**
   * `high`: a machine format that names a day or a moment. `medium`: English that was fully understood and has one reading. `low`: something had to be assumed: which number is the day and which the month (04.03. is day first, 04/03 month first), the century, the year, the day (the next one that is not over), the first day of a period, the hour of a part of the day, am or pm, which of two weekdays, one meaning of a zone abbreviation, the last day of a month that is too short, or a local time that a change of clocks skips (moved on by the gap) or repeats (the first is taken).
   */
  confidence: "high" | "medium" | "low";
  /**
   * The text that was parsed.
   */
  parsed_input: string;
}

/**
 * A range, and how many integers to draw from it.
 */
export interface RollRequest {
  /**
   * The lowest integer that can be drawn.
   */
  low: number;
  /**
   * The highest integer that can be drawn; not below `low`.
   */
  high: number;
  /**
   * How many integers to draw, each on its own: values can repeat.
   */
  count: number;
  /**
   * Optional: a hash of something that you keep secret for now, 32 bytes of hex with or without 0x. It stands in the signed payload as you sent it.
   */
  commitment?: string | null;
  /**
   * Optional: what the roll is for. It stands in the signed payload word for word.
   */
  label?: string | null;
}

/**
 * The drawn integers and the treasury's signature over them. JCS is RFC 8785; both hashes are SHA-256 in lower-case hex.
 */
export interface RollResponse {
  /**
   * The request's low and high.
   *
   * @minItems 2
   * @maxItems 2
   */
  range: [number, number];
  /**
   * How many integers were drawn.
   */
  count: number;
  /**
   * The request's commitment as sent, or null.
   */
  commitment: string | null;
  /**
   * The request's label, or null.
   */
  label: string | null;
  /**
   * The drawn integers, in the order in which they were drawn.
   */
  result: number[];
  /**
   * SHA-256 of the JCS text of {range, count, commitment, label}.
   */
  input_hash: string;
  /**
   * SHA-256 of the JCS text of {input_hash, result}.
   */
  result_hash: string;
  /**
   * EIP-191 signature (personal_sign) by `signer` over the JCS text of {domain, range, count, commitment, label, result, input_hash, result_hash}.
   */
  signature: string;
  /**
   * The treasury's EVM address.
   */
  signer: string;
  /**
   * How the signature was made.
   */
  scheme: "eip191";
  /**
   * `<service_name>/roll/v1`: keeps this signature from being used as any other.
   */
  domain: string;
}

declare module "#plugin" {
  interface Plugins {
    anchor: {
      anchor: { input: AnchorRequest; output: AnchorResponse };
    };
    attest: {
      attest: { input: AttestRequest; output: AttestResponse };
      verify: { input: AttestVerifyRequest; output: AttestVerifyResponse };
    };
    datetime: {
      parse: { input: DatetimeParseRequest; output: DatetimeParseResponse };
    };
    roll: {
      roll: { input: RollRequest; output: RollResponse };
    };
  }
}

export {};
