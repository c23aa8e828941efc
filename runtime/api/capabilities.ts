/** What the runtime lends to plugins. Each capability is opened on its first use. */

/** A 0x-prefixed hex string. */
export type Hex = `0x${string}`;

/** A clock, injectable so that tests control the time. */
export interface Clock {
  /** Unix milliseconds. */
  now(): number;
}

/** A structured log: an event name with fields. Secrets are removed. */
export interface Log {
  info(event: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(event: string, fields?: Readonly<Record<string, unknown>>): void;
  error(event: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** The operator's own keys. Private keys never leave the driver. Both methods throw Problem `unavailable` without an EVM key. */
export interface Treasury {
  /** The treasury's EVM address, EIP-55 checksummed. */
  evmAddress(): Promise<Hex>;
  /** EIP-191 `personal_sign` over the UTF-8 text; 65 bytes. */
  signMessage(text: string): Promise<Hex>;
}

/** The transaction that holds a hash on one chain. */
export interface ChainAnchor {
  readonly tx: string;
  readonly explorer_url: string;
}

/** The transactions that hold a hash on both chains. */
export interface AnchorReceipt {
  readonly base: ChainAnchor;
  /** null when the Solana transaction failed; the Base anchor still proves the hash. */
  readonly solana: ChainAnchor | null;
  /** Unix seconds when the transactions were broadcast. */
  readonly anchored_at: number;
}

/** Writes a 32-byte hash to Base and Solana in parallel; waits until both have included it, or Solana has failed. */
export interface Anchor {
  /** @param hash 64 hex characters. @throws Problem `upstream-failed` when Base fails. */
  write(hash: string, signal: AbortSignal): Promise<AnchorReceipt>;
  /** @throws Problem `unavailable` when the treasury cannot send on Base now: no gas, or no node that answers. */
  ready(signal: AbortSignal): Promise<void>;
}

/** A mined transaction: the fields that verification needs. */
export interface EvmTransaction {
  readonly hash: Hex;
  readonly from: Hex;
  readonly to: Hex | null;
  readonly input: Hex;
  readonly status: "success" | "reverted";
  readonly blockNumber: bigint;
  /** Unix seconds. */
  readonly blockTime: number;
}

/** Reads from the Base chain. Both methods also throw the signal's reason when it is aborted. */
export interface Evm {
  /** The mined transaction; undefined when it is unknown or not mined yet. @throws Problem `upstream-failed`. */
  transaction(hash: Hex, signal: AbortSignal): Promise<EvmTransaction | undefined>;
  /**
   * Whether the account signed the text (EIP-191); smart accounts included (ERC-1271, ERC-6492).
   * @throws Problem `upstream-failed`.
   */
  verifyMessage(address: Hex, text: string, signature: Hex, signal: AbortSignal): Promise<boolean>;
}

/** What plugins may know about the site. */
export interface SiteInfo {
  /** The first part of every signature domain. */
  readonly name: string;
  /** The public base URL, without a trailing slash. */
  readonly baseUrl: string;
}

/** One request to an upstream. Timeout, retries and credentials are configured for the upstream, not here. */
export interface UpstreamRequest {
  /** Ends this caller's wait only; other callers keep waiting for the shared answer. */
  readonly signal: AbortSignal;
  /** Added to the path; undefined values are left out. */
  readonly query?: Readonly<Record<string, string | undefined>>;
  /** Latin-1 without line breaks: another value, such as one that a caller has chosen, throws a TypeError. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Limit of the decompressed body in bytes; 2 MB by default. */
  readonly maxBytes?: number;
  /**
   * Unix milliseconds, for jobs: until then, transient failures are retried and pauses that the upstream asks for are
   * waited out. Requests without this field go first.
   */
  readonly patientUntil?: number;
  /** Whether an answer means "ask again later", like status 429. @throws Problem like `json`. */
  readonly isPassing?: (answer: UpstreamAnswer) => boolean;
}

/** An upstream's answer. The statuses 408, 425, 429 and 5xx never appear here: they are failures. */
export interface UpstreamAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly text: string;
  /** The body as JSON. @throws Problem `upstream-failed` when it is not JSON. */
  json(): unknown;
}

/** An upstream's answer whose body is read while it arrives. */
export interface UpstreamStream {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  /** The connection is released at the end of the body or when the loop is left. @throws Problem `upstream-failed`. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** A node's answer to a JSON-RPC 2.0 call. An `error` (a revert, invalid parameters) counts as an answer. */
export type RpcAnswer =
  | { readonly result: unknown; readonly error?: undefined }
  | {
      readonly result?: undefined;
      readonly error: { readonly code: number; readonly message: string; readonly data?: unknown };
    };

/**
 * An external source. `_site.yaml` lists it under `upstreams`; a plugin may use it when a manifest of the plugin names
 * it. Transient failures are retried with exponential back-off and jitter, `Retry-After` is honoured, requests above
 * the upstream's `rate` wait, a circuit breaker pauses a dead upstream, and identical concurrent requests share one
 * answer. Every method throws Problem `upstream-failed`, which names the source but no credentials, with `retryAfter`
 * when known; Problem `unavailable` when no URL is configured; the signal's reason when it is aborted.
 */
export interface Upstream {
  readonly id: string;
  /** The name for people: `CoinGecko`. */
  readonly title: string;
  /** @param path appended to the configured URL; "" is the URL itself. */
  get(path: string, request: UpstreamRequest): Promise<UpstreamAnswer>;
  /** `get` for a large body: never shared between callers, retried only until the response headers have arrived. */
  stream(path: string, request: UpstreamRequest): Promise<UpstreamStream>;
  /** Sends JSON. The request must be a read: it may be retried. */
  post(path: string, body: unknown, request: UpstreamRequest): Promise<UpstreamAnswer>;
  /** One JSON-RPC 2.0 call. It must be a read: it may be retried. */
  rpc(method: string, params: readonly unknown[], request: UpstreamRequest): Promise<RpcAnswer>;
}

/** A cached value and when it was stored. */
export interface Cached<T> {
  readonly value: T;
  /** Milliseconds since the Unix epoch. */
  readonly storedAt: number;
}

/**
 * A plugin's own cache of JSON values, in the store: shared by all processes, and kept across restarts. A failing store
 * counts as an empty one: nothing is thrown.
 */
export interface Cache {
  /** Undefined when there is none, or it is too old. */
  get<T>(key: string): Promise<Cached<T> | undefined>;
  set(key: string, value: unknown, ttlMs: number): Promise<void>;
  /**
   * The cached value, or the result of `produce`, which is then cached. Concurrent callers share one `produce` and its
   * failure, which is not cached. @param signal ends this caller's wait only; the signal of `produce` is aborted when
   * no caller waits any more.
   */
  remember<T>(
    key: string,
    options: { readonly ttlMs: number; readonly signal: AbortSignal },
    produce: (signal: AbortSignal) => Promise<T>,
  ): Promise<Cached<T>>;
}

/** Background work of a plugin. It does not run under `payphone check` and ends when the server closes. */
export interface Schedule {
  /**
   * Runs a task soon after the start and then at every interval, never twice at once. A failure is logged and retried
   * earlier, with exponential back-off. Call it during setup. Its signal is aborted when the task takes too long, the
   * server closes, or another set is sold; a task that does not end then is left after five seconds.
   * @throws RangeError when the interval is no number of milliseconds.
   */
  every(name: string, intervalMs: number, task: (signal: AbortSignal) => Promise<void>): void;
}

/** One request to an address that a caller or a foreign document has chosen. */
export interface WebRequest {
  readonly method?: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** How many redirects are followed, each checked like the first address; 0 by default: a redirect is the answer. */
  readonly redirects?: number;
  /** The time from the DNS look-up to the last byte. */
  readonly timeoutMs: number;
  /** Limit of the decompressed body in bytes. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/** The answer to a `WebRequest`. */
export interface WebAnswer {
  readonly status: number;
  /** The URL that answered, after redirects. */
  readonly url: string;
  readonly headers: { get(name: string): string | null };
  readonly body: Buffer;
}

/** Fetches from public addresses only, also after a redirect or DNS rebinding. */
export interface Web {
  /**
   * @throws Problem `bad-request` for a URL that is not http(s), has a user name, or leads to an address that is not
   * public; Problem `upstream-failed` with the reason when no answer came; the signal's reason when it is aborted.
   */
  fetch(url: string, request: WebRequest): Promise<WebAnswer>;
}

/** One question to the language model. */
export interface LlmRequest {
  /** The id of the asking service, `call.service`. The limits under `llm` in its manifest apply. */
  readonly service: string;
  /** What the model has to do. Trusted: never a caller's text. */
  readonly instructions: string;
  /** Untrusted text, from a caller or a page. It is marked as data, whose instructions are not to be followed. */
  readonly data: string;
  /** The JSON Schema of the answer, without `$ref`s to other files; the service's output schema by default. */
  readonly schema?: object;
  readonly signal: AbortSignal;
}

/** A language model behind an OpenAI-compatible endpoint. */
export interface Llm {
  /**
   * An answer that fits the schema. If the first one does not, the model is asked once more and shown the faults.
   * @throws Problem `unavailable` when no endpoint is configured; `upstream-failed` when no usable answer came.
   */
  answer<T>(request: LlmRequest): Promise<T>;
}
