/** What the runtime lends to plugins, by name. Each is opened on its first use, so that a plugin pays only for what it takes. */

/** A 0x-prefixed hex string. */
export type Hex = `0x${string}`;

/** Milliseconds since the Unix epoch, injectable so that tests own the time. */
export interface Clock {
  now(): number;
}

/** Structured log: an event name and its fields. Secrets are removed by the driver. */
export interface Log {
  info(event: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(event: string, fields?: Readonly<Record<string, unknown>>): void;
  error(event: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** The operator's own keys. Private keys never leave the driver. */
export interface Treasury {
  /** The treasury's EVM address, EIP-55 checksummed. */
  evmAddress(): Promise<Hex>;
  /** EIP-191 `personal_sign` over the UTF-8 text; 65 bytes. */
  signMessage(text: string): Promise<Hex>;
}

/** Where one hash stands on one chain (specification 2.1). */
export interface ChainAnchor {
  readonly tx: string;
  readonly explorer_url: string;
}

/** Where one hash stands on both chains. */
export interface AnchorReceipt {
  readonly base: ChainAnchor;
  /** null when the Solana side failed; the Base anchor still proves the hash. */
  readonly solana: ChainAnchor | null;
  /** Unix seconds when the transactions were broadcast. */
  readonly anchored_at: number;
}

/** Writes a 32-byte hash to Base and Solana in parallel, and waits until both are included (or Solana has failed). */
export interface Anchor {
  /** @param hash 64 hex characters. @throws Problem `upstream-failed` when Base fails. */
  write(hash: string, signal: AbortSignal): Promise<AnchorReceipt>;
}

/** A mined transaction as far as verification needs it. */
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

/** Reads from the Base chain. */
export interface Evm {
  /** The mined transaction, or undefined when the chain does not know it (or has not mined it yet). @throws Problem `upstream-failed`. */
  transaction(hash: Hex, signal: AbortSignal): Promise<EvmTransaction | undefined>;
  /** Whether `signature` over the EIP-191 text was made by the account, ERC-1271 and ERC-6492 smart accounts included. */
  verifyMessage(address: Hex, text: string, signature: Hex, signal: AbortSignal): Promise<boolean>;
}

/** What plugins may know of the site. */
export interface SiteInfo {
  /** `<service_name>`: the first part of every signature domain. */
  readonly name: string;
  /** The public base URL, without a trailing slash. */
  readonly baseUrl: string;
}

/** One request to an upstream. Its time, its repetitions and its credentials are the upstream's own. */
export interface UpstreamRequest {
  /** Ends this caller's wait; others that wait for the same answer go on. */
  readonly signal: AbortSignal;
  /** Added to the path; what is undefined is left out. */
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Of the body, decompressed; 2 MB unless said otherwise. */
  readonly maxBytes?: number;
}

/** What an upstream answered: any status but 408, 425, 429 and 5xx, which are failures of the upstream. */
export interface UpstreamAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly text: string;
  /** The body as JSON. @throws Problem `upstream-failed` when it is none. */
  json(): unknown;
}

/** The body of an answer, as it comes in. */
export interface UpstreamStream {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  /** Reading it to the end or leaving the loop releases the connection. @throws Problem `upstream-failed`. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** What a node answered to a JSON-RPC 2.0 call: its refusal (a revert, wrong parameters) is an answer, too. */
export type RpcAnswer =
  | { readonly result: unknown; readonly error?: undefined }
  | {
      readonly result?: undefined;
      readonly error: { readonly code: number; readonly message: string; readonly data?: unknown };
    };

/**
 * A source that services read: each named in `_site.yaml` under `upstreams`, and lent to the plugins whose manifests name
 * it. Failures that may pass are repeated with growing, spread pauses; the provider's `Retry-After` is honoured; a dead
 * upstream is left alone for a while (circuit breaker); identical requests at the same time are one request.
 * Every method throws Problem `upstream-failed` that names the source and never its credentials, with `retryAfter` where it
 * is known; Problem `unavailable` when no URL is configured; the signal's reason when it is aborted.
 */
export interface Upstream {
  readonly id: string;
  /** For people: `CoinGecko`. */
  readonly title: string;
  /** @param path below the configured URL; "" is the URL itself. */
  get(path: string, request: UpstreamRequest): Promise<UpstreamAnswer>;
  /** The same for a large body: never shared with others, repeated only until its head has come. */
  stream(path: string, request: UpstreamRequest): Promise<UpstreamStream>;
  /** Sends JSON, to read something: it may be repeated. */
  post(path: string, body: unknown, request: UpstreamRequest): Promise<UpstreamAnswer>;
  /** One JSON-RPC 2.0 call that reads. */
  rpc(method: string, params: readonly unknown[], request: UpstreamRequest): Promise<RpcAnswer>;
}

/** A value and when it was put there. */
export interface Cached<T> {
  readonly value: T;
  /** Milliseconds since the Unix epoch. */
  readonly storedAt: number;
}

/** What a plugin remembers, as JSON, in the store: shared by all processes, and still there after a restart. Each plugin has its own. */
export interface Cache {
  get<T>(key: string): Promise<Cached<T> | undefined>;
  set(key: string, value: unknown, ttlMs: number): Promise<void>;
  /**
   * What is kept under the key, or else what `produce` gives, which is then kept. Callers that miss at the same time wait for
   * one `produce`; its failure is everybody's, and is not kept. @param signal ends this caller's wait alone; the work's own
   * signal is aborted when nobody waits any more.
   */
  remember<T>(
    key: string,
    options: { readonly ttlMs: number; readonly signal: AbortSignal },
    produce: (signal: AbortSignal) => Promise<T>,
  ): Promise<Cached<T>>;
}

/** Background work of a plugin. Nothing runs under `payphone check`, and everything ends when the server closes. */
export interface Schedule {
  /**
   * Runs a task soon after the start and then again and again, never twice at once. A failure is logged and tried again
   * sooner, with growing pauses. To be called during setup. @param signal aborted at the task's end of patience or at the server's close.
   */
  every(name: string, intervalMs: number, task: (signal: AbortSignal) => Promise<void>): void;
}

/** One request of an address that a caller, or somebody else's answer, has chosen. */
export interface WebRequest {
  readonly method?: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** How many redirects are followed, each looked at like the first address; 0 unless said otherwise, and then they are answers. */
  readonly redirects?: number;
  /** From the first look-up to the last byte. */
  readonly timeoutMs: number;
  /** Of the body, decompressed. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal | undefined;
}

export interface WebAnswer {
  readonly status: number;
  /** Where the answer came from, after redirects. */
  readonly url: string;
  readonly headers: { get(name: string): string | null };
  readonly body: Buffer;
}

/** Reaches the public internet alone, whatever the URL says: no private, loopback or special address, also not by redirect or rebinding. */
export interface Web {
  /**
   * @throws Problem `bad-request` for what is no http(s) URL, has a user name, or leads to an address that is not public;
   * `upstream-failed` with the reason when nothing came; the signal's reason.
   */
  fetch(url: string, request: WebRequest): Promise<WebAnswer>;
}

/** One question to the language model. */
export interface LlmRequest {
  /** The id of the service that asks: the limits under `llm` in its manifest are kept. */
  readonly service: string;
  /** What the model is to do: our own words. */
  readonly instructions: string;
  /** What a caller has sent, or a page has said. It is fenced off as data; instructions in it are not followed. */
  readonly data: string;
  /** What the answer must fit; the service's own output schema unless given. */
  readonly schema?: object;
  readonly signal: AbortSignal;
}

/** A language model behind an OpenAI-compatible endpoint. */
export interface Llm {
  /**
   * An answer that fits the schema; one that does not is asked for once more with its faults shown.
   * @throws Problem `unavailable` when no endpoint is configured; `upstream-failed` when nothing usable came.
   */
  answer<T>(request: LlmRequest): Promise<T>;
}

/** A file that whoever bought it reads with a browser, by an address that nobody can guess. */
export interface ReportFile {
  /** The last part of its address: `report.md`. Lower-case letters, digits and `._-`, at most 80 of them. */
  readonly name: string;
  /** Its media type; a text is UTF-8 and says so: `text/markdown; charset=utf-8`. No script of a page runs. */
  readonly type: string;
  /** At most 32 MB in UTF-8. */
  readonly body: string;
}

/** What services hand out beside their answers. */
export interface Reports {
  /**
   * Keeps the file for as long as a job can be asked for (90 days), at an address of its own with at least 128 random bits.
   * To be called in a step of its own, so that a job that goes on after a crash knows the address that it gave before.
   * @returns the absolute URL. @throws Problem `payload-too-large`; `unavailable` when it cannot be kept.
   */
  publish(file: ReportFile): Promise<string>;
}
