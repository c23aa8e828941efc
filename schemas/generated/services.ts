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
 * The transactions that now hold the hash, on Base and, if that succeeded, on Solana.
 */
export interface AnchorResponse {
  /**
   * The hash that was anchored: 64 lower-case hex characters. It is the whole calldata of the transaction on Base and the memo of the one on Solana.
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
   * Anybody can POST this receipt here to verify it again.
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
 * The result of verifying a receipt, read from the chain now. An invalid receipt is no error: the flags say what is wrong with it.
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
 * The subject of the aura reading.
 */
export interface AuraRequest {
  /**
   * A person, a post, a project, a line of text.
   */
  target: string;
}

/**
 * An aura as it was read.
 */
export interface AuraResponse {
  /**
   * Its colour, in a few free words.
   */
  color: string;
  /**
   * What the score amounts to: S from 9000, A from 7500, B from 6000, C from 4000, D from 2000, F below.
   */
  tier: "S" | "A" | "B" | "C" | "D" | "F";
  /**
   * 0 to 9999, higher is stronger.
   */
  score: number;
  /**
   * What it looks and feels like, in two to four sentences.
   */
  description: string;
}

/**
 * The calldata of a transaction or of a call.
 */
export interface CalldataDecodeRequest {
  /**
   * `ethereum` stands for every EVM chain. `solana` is refused with status 400: its instructions have no selectors.
   */
  chain: "ethereum" | "solana";
  /**
   * Hexadecimal, with or without 0x or 0X: a selector of 4 bytes, and its arguments. At most 128 KB, as in a transaction that Ethereum's nodes pass on.
   */
  calldata_hex: string;
  /**
   * The called contract: if it is a well-known token or Permit2, `summary` says the amount in it.
   */
  contract_address?: string | null;
}

/**
 * The function that the calldata calls, and its arguments. Signatures come from a public directory where anybody can register them; of those of verified contracts, or else of all, the one that the data fits best is taken, its canonical ABI encoding first.
 */
export interface CalldataDecodeResponse {
  /**
   * The first 4 bytes: 0x and 8 hexadecimal digits in lower case.
   */
  function_selector: string;
  /**
   * Such as `transfer`; null when nothing was decoded.
   */
  function_name?: string | null;
  /**
   * The signature that the data was decoded by, such as `transfer(address,uint256)`; null when nothing was decoded.
   */
  function_signature?: string | null;
  /**
   * The arguments in order; empty when nothing was decoded.
   */
  params?: DecodedParam[];
  /**
   * Whether a known signature fits the data. False for an unknown selector, and for data that is cut off.
   */
  decoded: boolean;
  /**
   * Whether the data is exactly the canonical ABI encoding. False for more bytes behind it, missing padding, gaps or values out of order; null when nothing was decoded.
   */
  canonical?: boolean | null;
  /**
   * The call in words with its amounts, such as `transfer 1.5 USDC to 0x...`; null unless `contract_address` is a well-known token, or Permit2 for one.
   */
  summary?: string | null;
  /**
   * The calls inside of the arguments (multicall, Safe, ERC-4337 operations, timelocks, proposals of governors, Universal Router commands), decoded, at most three levels deep and 100 in all; empty for other functions.
   */
  calls?: DecodedCall[];
  /**
   * How many calls are inside of the arguments and not in `calls`: those that lie deeper than three levels, or come after the first 100, and one for a call whose arguments, or those before them, lead to the same bytes too often to be read. What is inside of them is not counted. Unless it is 0, `calls` does not tell all that the calldata does.
   */
  calls_omitted?: number;
  /**
   * Other signatures with this selector, at most 32, those that are more likely first: functions of verified contracts, then those that were registered earlier. All of them when nothing was decoded.
   */
  candidates?: string[];
  /**
   * The directory that the signatures come from: Openchain's, or 4byte.directory when that one is down or knows none.
   */
  source?: "openchain" | "4byte";
}

/**
 * The transaction that holds a hash on one chain.
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
 * The local date and time in the zone.
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
   * `high`: a machine format that names a day or a moment; a count, such as Unix time, only of the years 1970 to 2100. `medium`: fully understood, with one reading. `low`: something had to be assumed; `assumptions` says what.
   */
  confidence: "high" | "medium" | "low";
  /**
   * What was assumed, in sentences: which number is the day and which the month (04.03. is day first, 04/03 month first), the century, the year or the day (the next one that is not over), whether four digits are a year or a time, months where M could be minutes, the first day of a period, the hour of a part of the day, am or pm, which of two weekdays, the country's rule of a holiday, business days without holidays, one meaning of a zone abbreviation, the last day of a month that is too short, a local time that a clock change skips (moved on by the gap) or repeats (the first is taken). Empty unless `confidence` is `low`.
   */
  assumptions: string[];
  /**
   * The text that was parsed.
   */
  parsed_input: string;
}

/**
 * A call inside of another call's arguments: of a multicall, a Safe, an account's operation, or a command of the Universal Router.
 */
export interface DecodedCall {
  /**
   * The called contract, with the EIP-55 checksum; null when neither the arguments nor `contract_address` say.
   */
  target: string | null;
  /**
   * Wei that the call sends, as decimal text; null when the arguments do not say.
   */
  value_wei: string | null;
  /**
   * Whether the target's code runs on the caller's own storage (DELEGATECALL): its function then moves nothing of the target's.
   */
  delegatecall: boolean;
  /**
   * The first 4 bytes of the call's data; null for a router's command, and for data that is shorter.
   */
  function_selector: string | null;
  /**
   * The function or the command; null when nothing was decoded.
   */
  function_name: string | null;
  /**
   * The signature that the data was decoded by; null when nothing was decoded.
   */
  function_signature: string | null;
  /**
   * The arguments in order; empty when nothing was decoded.
   */
  params: DecodedParam[];
  /**
   * Whether a known signature fits the data.
   */
  decoded: boolean;
  /**
   * Whether the data is the canonical encoding; null when nothing was decoded.
   */
  canonical: boolean | null;
  /**
   * The call in words with its amounts, such as `transfer 1.5 USDC to 0x…`; null for unknown tokens and other functions.
   */
  summary: string | null;
  /**
   * The calls inside of this one, in the same form; at most three levels deep.
   */
  calls: {
    [k: string]: unknown;
  }[];
}

/**
 * One argument of a call.
 */
export interface DecodedParam {
  /**
   * The parameter's name; null, as signature directories know none.
   */
  name?: string | null;
  /**
   * The ABI type as in the signature, such as `uint256` or `(address,bytes)[]`.
   */
  type: string;
  /**
   * Integers as numbers, and beyond 2^53 - 1 as decimal text; addresses with the EIP-55 checksum; bytes as 0x and hexadecimal digits, and so a string that is no UTF-8; arrays and tuples as arrays.
   */
  value: unknown;
}

/**
 * A piece of work to be graded.
 */
export interface GradeRequest {
  /**
   * An essay, an argument, code, a plan, a message.
   */
  target: string;
}

/**
 * A grade and the reasons for it.
 */
export interface GradeResponse {
  /**
   * The grade, A+ is best.
   */
  letter_grade: "A+" | "A" | "A-" | "B+" | "B" | "B-" | "C+" | "C" | "C-" | "D+" | "D" | "F";
  /**
   * Remarks in the margin, each on one spot.
   */
  marginalia: string[];
  /**
   * Why it got this grade, in two or three sentences.
   */
  summary: string;
}

/**
 * A wallet to gather intelligence on.
 */
export interface IntelWalletRequest {
  /**
   * An EVM address (40 hex characters, with or without 0x) or a Solana public key (base58), alone or in CAIP-10 form (`eip155:8453:0x...`).
   */
  wallet: string;
}

/**
 * What many sources know about a wallet. A field whose source failed is null and named in `errors`; a field of the other family of chains is null without an error.
 */
export interface IntelWalletResponse {
  /**
   * The wallet as it was sent.
   */
  wallet: string;
  /**
   * The family of chains, by the wallet's format: `ethereum` stands for all EVM chains.
   */
  chain_inferred: "ethereum" | "solana";
  /**
   * Exact decimal amounts as text.
   */
  balances: {
    /**
     * ETH on Base.
     */
    base_eth: string | null;
    /**
     * ETH on Ethereum.
     */
    eth_eth: string | null;
    /**
     * USDC on Base.
     */
    base_usdc: string | null;
    /**
     * SOL on Solana.
     */
    sol: string | null;
    /**
     * USDC on Solana, in all of the wallet's token accounts together.
     */
    solana_usdc: string | null;
  };
  /**
   * Whether the wallet is in use.
   */
  activity: {
    /**
     * The wallet's nonce on Base: how many transactions it has sent. Delegations (EIP-7702) count, too; a contract's begins at 1 and counts the contracts that it creates.
     */
    base_tx_count: number | null;
    /**
     * EVM: whether the wallet has sent a transaction on Base or Ethereum, or holds ETH or USDC there. Solana: whether any transaction has named it, or it holds SOL or USDC.
     */
    has_history: boolean | null;
  };
  /**
   * The names that the wallet's owner has chosen for it. A name that does not resolve to the wallet is left out.
   */
  identity: {
    /**
     * The primary ENS name.
     */
    ens_name: string | null;
    /**
     * The favourite .sol name.
     */
    sns_name: string | null;
  };
  /**
   * The wallet's screening, as /v1/screen gives it; null when it could not be made.
   */
  sanctions?: ScreenResponse | null;
  /**
   * The sources that failed; empty when all answered.
   */
  errors?: {
    /**
     * What could not be found out, mostly the field of this name. `eth_tx_count` and `solana_history` are parts of `has_history`.
     */
    source:
      | "base_eth"
      | "eth_eth"
      | "base_usdc"
      | "base_tx_count"
      | "eth_tx_count"
      | "ens_name"
      | "sol"
      | "solana_usdc"
      | "solana_history"
      | "sns_name"
      | "sanctions";
    /**
     * What went wrong, in a sentence.
     */
    message: string;
  }[];
  /**
   * When the oldest part of the answer was read, in Unix seconds; the screening, which has its own `checked_at`, aside.
   */
  fetched_at: number;
  /**
   * How old that part is. Each part that was read is kept for a minute; one that failed is asked for again.
   */
  cache_age_seconds: number;
}

/**
 * A signed and anchored report about an address. `merkleRoot` is SHA-256 of the 64 bytes of the SHA-256 digests of report.md and report.json.
 */
export interface InvestigateDeliverable {
  /**
   * The report as Markdown, with the graph drawn inside: report.md.
   */
  reportUrl?: string | null;
  /**
   * The evidence, the score and its reasons as JSON: report.json.
   */
  reportJsonUrl?: string | null;
  /**
   * The same as a page for a browser, with its proof.
   */
  reportHtmlUrl?: string | null;
  /**
   * By `score`: critical 100, high from 70, medium from 30; `inconclusive` when what could not be read might change it.
   */
  verdict?: "low" | "medium" | "high" | "critical" | "inconclusive" | null;
  /**
   * 0 to 100, higher is riskier: the sum of the points of the reasons in the report. It counts what was found.
   */
  score?: number | null;
  /**
   * Whether the score may be higher: a source has failed, or the history was not read to its beginning.
   */
  provisional?: boolean | null;
  /**
   * What was read, source by source, and what could not be read.
   */
  coverage?:
    | {
        /**
         * The source's name.
         */
        source: string;
        /**
         * What was read of it; null for what could not be read.
         */
        covers: string | null;
        /**
         * Whether there is no more to read.
         */
        whole: boolean;
        /**
         * Why it could not be read; null for what was read.
         */
        missing: string | null;
      }[]
    | null;
  /**
   * The operator's EVM address.
   */
  signedBy?: string | null;
  /**
   * EIP-191 over the JCS text (RFC 8785) of {domain, address, verdict, score, investigated_at, report_sha256, data_sha256, merkle_root}; domain is `<service name>/investigate/v1`, address is `subject.address` of report.json, investigated_at its `investigatedAt`.
   */
  signature?: string | null;
  /**
   * 64 hex characters: what is anchored.
   */
  merkleRoot?: string | null;
  /**
   * The transaction on Base whose calldata is the root.
   */
  baseAnchorTx?: string | null;
  /**
   * The transaction on Solana whose memo is the root; null when Solana failed.
   */
  solanaAnchorTx?: string | null;
  /**
   * What the report is not.
   */
  disclaimer?: string | null;
}

/**
 * An address to investigate.
 */
export interface InvestigateRequest {
  /**
   * An EVM address (40 hex characters, with or without 0x) or a Solana public key (base58), alone or in CAIP-10 form (`eip155:8453:0x...`).
   */
  address: string;
}

/**
 * Transfers that belong together.
 */
export interface LedgerGroup {
  /**
   * The service's name in the registry, or else the recipient, the day, or `other_transfer`.
   */
  label: string;
  /**
   * The address that received all of them, EIP-55 checksummed; null where there are several.
   */
  recipient: string | null;
  /**
   * The service's id in the registry; null where it has none.
   */
  service_id: string | null;
  /**
   * What the registry says of the recipient; of one that is not in it, `x402` where the transfer was authorized by a signature (EIP-3009), as x402 pays.
   */
  category: "x402" | "other_transfer";
  /**
   * USDC as a decimal number in text.
   */
  usdc: string;
  /**
   * How many transfers.
   */
  tx_count: number;
  /**
   * Mean USDC of a transfer, rounded to 6 decimals.
   */
  avg_call_price: string;
  /**
   * Hash of the first transfer's transaction.
   */
  first_tx: string;
  /**
   * When it was mined. ISO 8601 in UTC.
   */
  first_at: string;
  /**
   * Hash of the last transfer's transaction.
   */
  last_tx: string;
  /**
   * When it was mined. ISO 8601 in UTC.
   */
  last_at: string;
}

/**
 * A signed and anchored report.
 */
export interface LedgerReportDeliverable {
  /**
   * The report; null for the format `csv`.
   */
  report_markdown_url: string | null;
  /**
   * The same for browsers, with a chart; null for the format `csv`.
   */
  report_html_url?: string | null;
  /**
   * Every transfer; null for the format `markdown`.
   */
  report_csv_url: string | null;
  /**
   * SHA-256 of the markdown (of the CSV, for the format `csv`): 64 hex characters. It is what both chains carry.
   */
  report_sha256: string;
  /**
   * SHA-256 of the CSV; the markdown names it, too.
   */
  csv_sha256: string | null;
  /**
   * The treasury's signature over both hashes.
   */
  signature: {
    /**
     * The treasury's EVM address.
     */
    signer: string;
    /**
     * EIP-191 personal_sign.
     */
    scheme: "eip191";
    /**
     * The first line of the message: `<service_name>/ledger/v1`.
     */
    domain: string;
    /**
     * The signature, 65 bytes.
     */
    value: string;
    /**
     * The signed text, as it stands.
     */
    message: string;
  };
  /**
   * The transactions that carry `report_sha256`.
   */
  anchor: {
    /**
     * On Base, as calldata.
     */
    base_tx: string;
    /**
     * On Solana, as a memo; null when that side failed.
     */
    solana_tx: string | null;
  };
  /**
   * The registry that named the services.
   */
  registry_version: string;
  /**
   * The version of the report and of how it is computed.
   */
  spec_version: string;
}

/**
 * What to report on, and in which form.
 */
export interface LedgerReportRequest {
  /**
   * The address on Base: 0x and 40 hex characters.
   */
  wallet: string;
  /**
   * Start of the range: an ISO 8601 date (its first second in UTC) or datetime (UTC unless it has an offset). A time before the first block of Base (2023-06-15T00:35:47Z) means that block. Default: 30 days before `to`.
   */
  from?: string | null;
  /**
   * End of the range, included: an ISO 8601 date (its last second in UTC) or datetime. A future time means now. Default: now.
   */
  to?: string | null;
  /**
   * `outbound`: what the wallet spent; `inbound`: what it earned; `both`.
   */
  direction: "outbound" | "inbound" | "both";
  /**
   * The least USDC of a transfer that counts: a decimal number with at most 6 decimals, such as "0.01".
   */
  min_amount?: string | number | null;
  /**
   * What a group is: one service of the registry (or one recipient that is not in it), one recipient, or one day.
   */
  group_by: "service" | "recipient" | "day";
  /**
   * True: USDC transfers that are no x402 payments count, too, with the category `other_transfer`.
   */
  include_unfiltered: boolean;
  /**
   * Which files to make. The markdown comes with a view of it for browsers.
   */
  format: "markdown" | "csv" | "both";
  /**
   * The report's title.
   */
  title?: string | null;
  /**
   * For whom the report is: a name for its header.
   */
  prepared_for?: string | null;
}

/**
 * Whose USDC transfers on Base to account for, and how.
 */
export interface LedgerSummaryRequest {
  /**
   * The address on Base: 0x and 40 hex characters.
   */
  wallet: string;
  /**
   * Start of the range: an ISO 8601 date (its first second in UTC) or datetime (UTC unless it has an offset). A time before the first block of Base (2023-06-15T00:35:47Z) means that block. Default: 30 days before `to`.
   */
  from?: string | null;
  /**
   * End of the range, included: an ISO 8601 date (its last second in UTC) or datetime. A future time means now. Default: now.
   */
  to?: string | null;
  /**
   * `outbound`: what the wallet spent; `inbound`: what it earned; `both`.
   */
  direction: "outbound" | "inbound" | "both";
  /**
   * The least USDC of a transfer that counts: a decimal number with at most 6 decimals, such as "0.01".
   */
  min_amount?: string | number | null;
  /**
   * What a group is: one service of the registry (or one recipient that is not in it), one recipient, or one day.
   */
  group_by: "service" | "recipient" | "day";
  /**
   * True: USDC transfers that are no x402 payments count, too, with the category `other_transfer`.
   */
  include_unfiltered: boolean;
}

/**
 * What a wallet has spent or earned in USDC on Base, by x402 above all.
 */
export interface LedgerSummaryResponse {
  /**
   * The address, EIP-55 checksummed.
   */
  wallet: string;
  /**
   * Where the transfers were read.
   */
  chain: "base";
  /**
   * What was looked at.
   */
  range: {
    /**
     * The first second. ISO 8601 in UTC.
     */
    from: string;
    /**
     * The last second. ISO 8601 in UTC.
     */
    to: string;
    /**
     * The first block in the range; null when no block was mined in it.
     */
    from_block?: number | null;
    /**
     * The last block in the range; null when no block was mined in it.
     */
    to_block?: number | null;
  };
  /**
   * As asked.
   */
  direction: "outbound" | "inbound" | "both";
  /**
   * All groups together.
   */
  totals: {
    /**
     * USDC as a decimal number in text. For `both`, the sum of what was received and sent.
     */
    usdc: string;
    /**
     * USDC sent; only for `both`.
     */
    usdc_outbound?: string;
    /**
     * USDC received; only for `both`.
     */
    usdc_inbound?: string;
    /**
     * How many transfers.
     */
    tx_count: number;
    /**
     * How many different addresses received them.
     */
    unique_recipients: number;
    /**
     * How much of the USDC went to services that the registry names, in percent with two decimals; 0 where nothing moved.
     */
    identified_pct: number;
  };
  /**
   * The transfers as `group_by` sorts them: the largest sum first, days in their order.
   */
  groups: LedgerGroup[];
  /**
   * The series over the whole range, without gaps.
   *
   * Items: One day or week.
   */
  daily: {
    /**
     * The day, or the Monday that the week begins with: YYYY-MM-DD, in UTC.
     */
    date: string;
    /**
     * USDC as a decimal number in text.
     */
    usdc: string;
    /**
     * How many transfers.
     */
    tx_count: number;
  }[];
  /**
   * What one step of `daily` is: a week where the range is longer than 90 days.
   */
  granularity: "day" | "week";
  /**
   * The registry that named the services.
   */
  registry_version: string;
  /**
   * The version of these fields and of how they are computed.
   */
  spec_version: string;
  /**
   * When this was computed. ISO 8601 in UTC.
   */
  generated_at: string;
}

/**
 * Where a name leads on one chain.
 */
export interface NameAddress {
  /**
   * The chain that the address is on.
   */
  chain: "ethereum" | "solana";
  /**
   * An EIP-55 address on `ethereum`, a base58 public key on `solana`.
   */
  address: string;
  /**
   * How long the address may be kept: what the name's owner has set in the registry, at most a day, otherwise 300.
   */
  ttl_hint_seconds: number;
}

/**
 * A name to resolve.
 */
export interface NameResolveRequest {
  /**
   * A name that ends in .eth (ENS, subdomains too) or .sol (SNS), in any case. A trailing dot is ignored. A name of another suffix is answered without addresses; one without a suffix is refused. An EVM address or a Solana public key is answered with its primary name.
   */
  name: string;
}

/**
 * Where a name leads. No addresses means: do not pay to this name; `notes` say why.
 */
export interface NameResolveResponse {
  /**
   * The name as it was looked up: normalized by ENSIP-15 (.eth), in lower case (.sol). For an address, its primary name.
   */
  name: string;
  /**
   * At most one for each chain; a .eth name can lead to both. Empty when the name has no certain owner, or leads nowhere.
   */
  addresses?: NameAddress[];
  /**
   * When the registry was read, in Unix seconds.
   */
  resolved_at: number;
  /**
   * The registry that was asked: `ENS` for .eth, `SNS` for .sol; null when the suffix is another.
   */
  registry_used?: "ENS" | "SNS" | null;
  /**
   * The suffixes that can be resolved: `.eth` and `.sol`.
   */
  supported_tlds: string[];
  /**
   * Why there is no address, or what to beware of before paying, such as a registration that has run out; null when there is nothing to say.
   */
  notes?: string | null;
}

/**
 * A question that can be answered with yes or no.
 */
export interface OracleRequest {
  /**
   * A yes/no question. It stands in the anchored hash exactly as you send it.
   */
  question: string;
}

/**
 * A verdict, and where its hash was anchored.
 */
export interface OracleResponse {
  /**
   * The verdict of a language model.
   */
  answer: "YES" | "NO" | "MAYBE";
  /**
   * The reason, in one to three sentences. It is not part of the hash.
   */
  explanation: string;
  /**
   * SHA-256 of the UTF-8 text `question|answer|asked_at`, with asked_at in decimal: the hash that was anchored.
   */
  merkle_root: string;
  /**
   * The transaction on Base whose calldata is the hash.
   */
  base_tx: string;
  /**
   * The transaction on Solana whose memo is the hash, or null when that side failed.
   */
  solana_tx?: string | null;
  /**
   * Unix seconds when the question was asked.
   */
  asked_at: number;
}

/**
 * One purchase of the wallet that has signed in, as it stands.
 */
export interface Purchase {
  /**
   * Names the purchase, for its wallet alone.
   */
  id: string;
  /**
   * What was bought: the service's id.
   */
  service: string;
  /**
   * When it was charged, in UTC.
   */
  bought_at: string;
  /**
   * The account that paid.
   */
  payer: string;
  /**
   * Its network (CAIP-2).
   */
  network: string;
  /**
   * `settling`: the outcome of the payment is not known yet. `paid`: the work, or its refund, is still owed; a job may also have failed without being paid back. `forgotten`: the answer is not kept any more.
   */
  state: "settling" | "paid" | "delivered" | "paid-back" | "forgotten";
  /**
   * The token that was paid.
   */
  asset: string | null;
  /**
   * Its atomic units.
   */
  amount: string | null;
  /**
   * The transaction that paid for it.
   */
  transaction: string | null;
  /**
   * The job, where one was bought; the answer has its status_url.
   */
  job_id: string | null;
  /**
   * The answer as it was sold, once it is delivered; of a job, that it was accepted.
   */
  answer: {} | null;
}

/**
 * Which services receive USDC on Base at which addresses: what `payphone registry import` writes and LEDGER_REGISTRY names.
 */
export interface Registry {
  /**
   * The registry's version, shown in every summary and report. An imported one ends in a digest of the services.
   */
  version: string;
  /**
   * By id, each id and each recipient once.
   *
   * Items: One service, or one seller.
   */
  services: {
    /**
     * The value of `service_id` in answers, such as the host of the service's URL.
     */
    id: string;
    /**
     * For people.
     */
    label: string;
    /**
     * `other_transfer` for recipients that are known and no x402 services, such as a bridge.
     */
    category?: "x402" | "other_transfer";
    /**
     * Where the recipients are stated: a page, or what has answered with them.
     */
    source?: string;
    /**
     * When they were last stated there: `2026-11-22`.
     */
    as_of?: string;
    /**
     * Addresses on Base, in lower case.
     */
    recipients: string[];
  }[];
}

/**
 * The target of the roast.
 */
export interface RoastRequest {
  /**
   * A person, a project, a profile, code, an idea: as text, with the details that jokes can stand on.
   */
  target: string;
}

/**
 * A playful roast.
 */
export interface RoastResponse {
  /**
   * The roast: one paragraph, in the language of the target.
   */
  roast: string;
  /**
   * One neutral sentence: who or what was roasted.
   */
  target_summary: string;
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

/**
 * An address to screen.
 */
export interface ScreenRequest {
  /**
   * An EVM address (40 hex characters, with or without 0x) or a Solana public key (base58), alone or in CAIP-10 form (`eip155:8453:0x...`). Any other address is searched in the sanctions list alone, and answered with `review`.
   */
  wallet: string;
}

/**
 * What sanctions lists and reputation say about an address. Branch on `recommendation`.
 */
export interface ScreenResponse {
  /**
   * The request's address as sent.
   */
  wallet: string;
  /**
   * By the address's format: `ethereum` is any EVM chain.
   */
  chain_inferred: "ethereum" | "solana" | "unknown";
  /**
   * Whether a sanctions list names the address.
   */
  sanctions_match: boolean;
  /**
   * The lists that name it, e.g. `OFAC SDN`.
   */
  sanctioned_lists?: string[];
  /**
   * By `risk_score`: critical 100, high from 70, medium from 30.
   */
  risk_level: "low" | "medium" | "high" | "critical";
  /**
   * The findings in sentences, for people.
   */
  notes: string;
  /**
   * When the list was searched, in Unix seconds. What GoPlus said may be ten minutes older.
   */
  checked_at: number;
  /**
   * What to do before sending funds: `block` for high and critical risk, `review` for medium, for an address whose key nobody has, such as the zero address, and for one whose checksum (EIP-55) is wrong, `allow` for other low.
   */
  recommendation?: "allow" | "review" | "block";
  /**
   * 0 to 100, higher is riskier.
   */
  risk_score?: number;
  /**
   * Whether the chain (that of a CAIP-10 address, else Ethereum) has code at the address: `eoa` is an account with a key.
   */
  address_type?: "eoa" | "contract" | "unknown";
  /**
   * All that speaks against the address; sanctions first.
   */
  signals?: ScreenSignal[];
  /**
   * The owner according to the sanctions list, and what the address is linked to, in a few words each.
   */
  labels?: string[];
  /**
   * The sanctions list that was searched: `ofac-sdn-<day of publication>-<digest>`. One that begins with `builtin` is the small list used until OFAC's has been read; it never gives an `allow`.
   */
  corpus_version?: string | null;
  /**
   * True when reputation is missing: it did not answer, or knows no such chain (Solana). An `allow` is then provisional.
   */
  partial?: boolean;
}

/**
 * One thing that speaks against an address.
 */
export interface ScreenSignal {
  /**
   * The kind of signal: `ofac_sdn`, or the name of a flag in GoPlus' address security, such as `phishing_activities`.
   */
  code: string;
  /**
   * How bad it is; the worst of all signals decides `risk_level`.
   */
  severity: "critical" | "high" | "medium";
  /**
   * The source: `treasury.gov` is OFAC's list of Specially Designated Nationals, `goplus` is GoPlus Security.
   */
  source: "treasury.gov" | "goplus";
  /**
   * The same in a sentence, with the entry of the sanctions list.
   */
  detail: string;
}

/**
 * What is to be summarized: exactly one of `text` and `url`.
 */
export interface TldrRequest {
  /**
   * The text itself.
   */
  text?: string | null;
  /**
   * Where the text is, on the public internet: http or https, at most 3 redirects and 2 MB. Of HTML the article is taken, of a PDF its words; plain text, Markdown, JSON and XML are taken as they are. What is longer than 200000 characters is refused.
   */
  url?: string | null;
}

/**
 * A summary of the whole text.
 */
export interface TldrResponse {
  /**
   * The summary: 3 to 5 concise bullets, the most important first.
   */
  summary_bullets: string[];
  /**
   * How many characters (Unicode code points) were summarized: of the text that was sent, or of the text that was found at the URL.
   */
  source_chars: number;
}

/**
 * A token, by its symbol or by its contract on a chain: give `symbol`, with or without `chain`, or `chain` and `contract`.
 */
export interface TokenPriceRequest {
  /**
   * One symbol, such as `ETH`, in capitals or not. Where several coins carry it, the one that is known by it is meant, or else the one with the highest market cap: `name` says which. The name of a well-known coin, such as `bitcoin`, means that coin. With `chain`, the coin must be on that chain. Not together with `contract`.
   */
  symbol?: string | null;
  /**
   * The chain that `contract` or the coin of `symbol` is on.
   */
  chain?: "base" | "ethereum" | "solana" | "polygon" | "arbitrum" | "optimism" | "bsc" | "avalanche" | null;
  /**
   * The token's contract: 0x and 40 hexadecimal digits or, on Solana, the mint in base58. Requires `chain`.
   */
  contract?: string | null;
}

/**
 * A token's price in US dollars, fetched at most 60 seconds ago. Numbers have all the digits that the provider gives.
 */
export interface TokenPriceResponse {
  /**
   * The coin's symbol, in capitals.
   */
  symbol?: string | null;
  /**
   * The coin's name, which tells coins of one symbol apart.
   */
  name?: string | null;
  /**
   * The request's contract as it was sent, or the contract on `chain` of the coin with the `symbol`; else null.
   */
  contract?: string | null;
  /**
   * The request's chain, or null.
   */
  chain?: string | null;
  /**
   * Price of one whole token in US dollars.
   */
  usd: number;
  /**
   * Change of the price over the last 24 hours in percent; null when the provider does not know it.
   */
  usd_24h_change_pct?: number | null;
  /**
   * Market capitalization in US dollars; null when the provider does not know it.
   */
  market_cap_usd?: number | null;
  /**
   * Who gave the price.
   */
  source?: string;
  /**
   * Unix seconds when the price was fetched from the provider.
   */
  fetched_at: number;
  /**
   * Seconds from `fetched_at` to this answer; at most 60.
   */
  age_seconds: number;
  /**
   * What was assumed, in sentences: which of several coins with the symbol is meant, that a coin's name was taken for its symbol, and since when the source has not updated the price, if for an hour or more. Absent when nothing was.
   */
  assumptions?: string[];
}

/**
 * The name of one transaction.
 */
export interface TxDecodeRequest {
  /**
   * The mainnet that the transaction was sent to.
   */
  chain: "base" | "ethereum" | "solana";
  /**
   * On `base` and `ethereum`: the hash, 64 hex digits with or without `0x`. On `solana`: the first signature, 64 bytes in base58.
   */
  tx_hash: string;
}

/**
 * What the transaction was and what became of it. Fields that belong to the other kind of chain are null.
 */
export interface TxDecodeResponse {
  /**
   * The request's.
   */
  chain: string;
  /**
   * As the chain writes it: lower-case hex with `0x`, or base58.
   */
  tx_hash: string;
  /**
   * EVM: the block that holds it; null while it is pending.
   */
  block_number?: number | null;
  /**
   * EVM: that block's time in Unix seconds; null while it is pending.
   */
  timestamp?: number | null;
  /**
   * EVM: the sender, with the EIP-55 checksum.
   */
  from_address?: string | null;
  /**
   * EVM: the account or contract that was called, with the EIP-55 checksum; null when it creates a contract.
   */
  to_address?: string | null;
  /**
   * EVM: the native currency that was sent along, in wei, as decimal text.
   */
  value_wei?: string | null;
  /**
   * EVM: the same in ETH, exact, as decimal text.
   */
  value_eth?: string | null;
  /**
   * EVM: the gas that it took; null while it is pending.
   */
  gas_used?: number | null;
  /**
   * EVM: 1 succeeded, 0 reverted, `pending` not in a block yet, null not recorded (blocks before Byzantium, October 2017). Solana: `success` or `failed`.
   */
  status?: number | string | null;
  /**
   * EVM: the calldata, or the code that creates the contract; `0x` when there is none.
   */
  input_calldata_hex?: string | null;
  /**
   * `ETH` or `SOL`.
   */
  native_currency?: string | null;
  /**
   * Solana: the slot that holds it.
   */
  slot?: number | null;
  /**
   * Solana: that slot's time in Unix seconds; null where the chain has none.
   */
  block_time?: number | null;
  /**
   * Solana: the fee that was paid, in lamports (10^-9 SOL), also when it failed.
   */
  fee_lamports?: number | null;
  /**
   * Solana: the accounts that had to sign, the payer of the fee first.
   */
  signers?: string[] | null;
  /**
   * Solana: the instructions in order, also of a failed transaction, whose effects were undone. Accounts from lookup tables are resolved.
   */
  program_calls?:
    | {
        /**
         * The program that was called.
         */
        program_id: string;
        /**
         * Its name where it is built in or well known: `system`, `spl-token`, `spl-memo`, `compute-budget` and so on.
         */
        program: string | null;
        /**
         * The accounts that it was given, in order.
         */
        accounts: string[];
        /**
         * The instruction's bytes in base58.
         */
        data: string;
        /**
         * Those bytes read: `type`, such as `transferChecked`, and `info`, its accounts and arguments by name (64-bit numbers as decimal text); null where they are not known.
         */
        parsed: {
          [k: string]: unknown;
        } | null;
        /**
         * Only on the call that failed: why, in the chain's words.
         */
        error?: unknown;
        /**
         * The calls that programs made in turn, in order and with the same fields, and `stack_height`: 2 if called by this instruction, 3 if by one of those, and so on; null where the chain's nodes have not recorded them, as in 2020.
         */
        inner:
          | {
              [k: string]: unknown;
            }[]
          | null;
        [k: string]: unknown;
      }[]
    | null;
}

export interface PurchaseInput {
  /**
   * The purchase's id in the list.
   */
  id: string;
}

export interface PurchasesInput {
  /**
   * How many are listed.
   */
  limit: number;
  /**
   * Whether the answers come with the list, the newest of them up to 16 MB.
   */
  answers: boolean;
}

export interface PurchasesOutput {
  /**
   * The newest first.
   */
  purchases: Purchase[];
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
    text: {
      aura: { input: AuraRequest; output: AuraResponse };
      grade: { input: GradeRequest; output: GradeResponse };
      roast: { input: RoastRequest; output: RoastResponse };
    };
    calldata: {
      decode: { input: CalldataDecodeRequest; output: CalldataDecodeResponse };
    };
    transaction: {
      decode: { input: TxDecodeRequest; output: TxDecodeResponse };
    };
    wallet: {
      intel: { input: IntelWalletRequest; output: IntelWalletResponse };
      investigate: { input: InvestigateRequest; output: InvestigateDeliverable };
      resolve: { input: NameResolveRequest; output: NameResolveResponse };
      screen: { input: ScreenRequest; output: ScreenResponse };
    };
    ledger: {
      report: { input: LedgerReportRequest; output: LedgerReportDeliverable };
      summary: { input: LedgerSummaryRequest; output: LedgerSummaryResponse };
    };
    oracle: {
      oracle: { input: OracleRequest; output: OracleResponse };
    };
    datetime: {
      parse: { input: DatetimeParseRequest; output: DatetimeParseResponse };
    };
    price: {
      token: { input: TokenPriceRequest; output: TokenPriceResponse };
    };
    purchases: {
      read: { input: PurchaseInput; output: Purchase };
      list: { input: PurchasesInput; output: PurchasesOutput };
    };
    roll: {
      roll: { input: RollRequest; output: RollResponse };
    };
    tldr: {
      tldr: { input: TldrRequest; output: TldrResponse };
    };
  }
}

export {};
