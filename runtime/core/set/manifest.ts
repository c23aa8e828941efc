import type { ScreenManifest, WebhookManifest } from "../seller-terms.ts";
import type { Keyed } from "../upstream/keys.ts";
import type { McpServerManifest, MediaManifest, ProxyManifest } from "../upstream/manifest.ts";

/** `manifests/<id>.yaml`, one service, after its check against `schemas/manifest.json`. Frozen. */
export interface Manifest {
  /** The file's name without `.yaml`. */
  readonly id: string;
  readonly title: string;
  readonly description: string;
  /** `METHOD /path`. */
  readonly route: string;
  /** More routes of the same service, e.g. its GET form. */
  readonly aliases?: readonly string[];
  /** US dollars, decimal text; free when omitted. */
  readonly price?: string;
  /** Whether the payment is settled before or after the work; after it by default. */
  readonly charge?: "first" | "last";
  /** The free calls of a wallet that signs in; none when omitted. */
  readonly free?: { readonly calls: number; readonly per: "hour" | "day" };
  /** Whether callers must sign in with a wallet. */
  readonly sign_in?: boolean;
  /** `plugin.handler`; omitted when `proxy` is set. */
  readonly handler?: string;
  /** A service of somebody else that is sold, instead of a handler. */
  readonly proxy?: ProxyManifest;
  /** The name of a file in `schemas/`, or an inline schema. */
  readonly input: string | object;
  readonly output: string | object;
  /** Set when the answer is a file: `output` is then the schema of the file's JSON form. */
  readonly media?: MediaManifest;
  readonly tags: readonly string[];
  readonly category?: string;
  readonly hints?: {
    readonly readOnly?: boolean;
    readonly idempotent?: boolean;
    readonly destructive?: boolean;
    readonly openWorld?: boolean;
  };
  /** The handler's deadline; the site's `deadline_seconds` when omitted. */
  readonly deadline_seconds?: number;
  /** The largest JSON body; the site's `body_bytes` when omitted. */
  readonly body_bytes?: number;
  /** Environment variables that the plugin gets. */
  readonly needs?: readonly string[];
  /** Ids of the site's upstreams. */
  readonly upstreams?: readonly string[];
  /** Limits of one request to the language model; set when the service uses it. */
  readonly llm?: LlmLimits;
  /** Set when the work takes longer than a request may: calls are jobs then, and the output is the deliverable. */
  readonly job?: JobManifest;
  readonly examples: readonly { readonly input: unknown; readonly output?: unknown }[];
}

/** The name of a service's handler: `plugin.handler`, or `proxy:` and the id of a proxied service. */
export const handlerOf = ({ id, handler }: Pick<Manifest, "id" | "handler">): string => handler ?? `proxy:${id}`;

/** The kind of file that a service answers; undefined for JSON, as the answer to a job call is. */
export const mediaOf = ({ media, job }: Pick<Manifest, "media" | "job">): MediaManifest | undefined =>
  job ? undefined : media;

/** The ids of the upstreams that a service reads. */
export const upstreamsOf = ({
  upstreams = [],
  proxy,
}: Partial<Pick<Manifest, "upstreams" | "proxy">>): readonly string[] =>
  [...upstreams, proxy?.upstream, proxy?.mcp].filter((id) => id !== undefined);

/** How the jobs of a service are run. */
export interface JobManifest {
  /** `GET /path/{job_id}`: the free route at which a job is polled. */
  readonly status_route: string;
  /** The expected duration that callers are told. */
  readonly eta_seconds: number;
  /** The deadline of one attempt. */
  readonly deadline_seconds: number;
  /** How many attempts may fail for transient reasons before the job fails. */
  readonly attempts: number;
  /** How many jobs one process runs at the same time. */
  readonly concurrency: number;
  /** How many jobs may be queued or running, over all processes; further calls are refused and not charged. */
  readonly queue_limit: number;
  /** Whether the price of a failed job is refunded. */
  readonly refund: boolean;
}

/** Limits of one request to the language model. */
export interface LlmLimits {
  readonly max_tokens: number;
  /** The timeout of one attempt. */
  readonly timeout_seconds: number;
}

/** How failed jobs are refunded automatically. */
export interface RefundsManifest {
  /** The id of an EVM rail. */
  readonly rail: string;
  /** The id of the service that screens recipients: its input has `wallet`, its output `sanctions_match`. */
  readonly screen: string;
}

/** An external source, as listed in `_site.yaml`. */
export interface UpstreamManifest extends McpServerManifest, Keyed {
  readonly id: string;
  readonly title: string;
  /** The source's URL; may be omitted when `variable` gives it. */
  readonly url?: string;
  /** The environment variable whose value replaces `url`. */
  readonly variable?: string;
  /** The chain (CAIP-2) of a source that is a JSON-RPC node. */
  readonly network?: string;
  /** The timeout of one attempt; 5 by default. */
  readonly timeout_seconds?: number;
  /** 2 by default. */
  readonly retries?: number;
  /** After how many failed requests in a row it is not asked, and for how long; 5 and 15 seconds by default. */
  readonly breaker?: { readonly failures: number; readonly seconds: number };
  /** The rate limit as a token bucket; none by default. */
  readonly rate?: { readonly per_second: number; readonly burst: number };
}

/** One way of paying (a token on a network), as listed in `_site.yaml`. */
export interface RailManifest {
  /** E.g. `base`, `solana`, `polygon`: the value of the CLI's `--rail`, and the network name of x402 version 1. */
  readonly id: string;
  readonly title: string;
  /** CAIP-2. */
  readonly network: string;
  /** The token: an EVM address or a Solana mint. */
  readonly asset: string;
  readonly symbol: string;
  readonly decimals: number;
  /** The environment variable with the receiving address. */
  readonly pay_to: string;
  /** The environment variable with the chain's RPC URL. */
  readonly rpc: string;
  /** `remote`, `in-process`, or ids of `facilitators` in the order of failover. Only `facilitatorsOf` may read it. */
  readonly facilitator?: string | readonly string[];
  /** The token's EIP-712 domain, for EVM rails. */
  readonly domain?: { readonly name: string; readonly version: string };
  /** `usd`: the token is a dollar. Other currencies: three letters; amounts come from the site's fixed tiers. */
  readonly currency: string;
  /** Whether the token is worthless test money. */
  readonly testnet?: boolean;
  /** The URL of an explorer, with `{tx}` in it. */
  readonly explorer: string;
  /** The URL of an explorer, with `{address}` in it; when omitted, addresses are not linked. */
  readonly explorer_address?: string;
  /** The highest fee of one transaction of the treasury on this chain, in its native coin, decimal text. EVM only. */
  readonly max_fee?: string;
  /** Wallets that payphone deploys with their first payment (ERC-6492); none when omitted. In-process rails only. */
  readonly smart_wallets?: SmartWalletsManifest;
}

/** An HTTP facilitator, as listed in `_site.yaml`. */
export interface FacilitatorManifest {
  readonly id: string;
  /** May be omitted when `variable` gives the URL. */
  readonly url?: string;
  /** The environment variable whose value replaces `url`. */
  readonly variable?: string;
  /** The environment variable with the headers of every request, as JSON. */
  readonly headers?: string;
  /** CAIP-2; all when omitted. */
  readonly networks?: readonly string[];
}

/** Which smart wallets are deployed for payers, and how many. */
export interface SmartWalletsManifest {
  /** The contracts that may be called to deploy a wallet: EVM addresses. */
  readonly factories: readonly string[];
  /** The most deployments within 24 hours; each costs the treasury gas. */
  readonly per_day: number;
}

/** `manifests/_site.yaml`: settings for all services. */
export interface SiteManifest {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** `info.version` of the OpenAPI document. */
  readonly version: string;
  readonly catalog_version: string;
  readonly contact: { readonly name: string; readonly url: string };
  readonly rails: readonly RailManifest[];
  /** None when omitted. */
  readonly facilitators?: readonly FacilitatorManifest[];
  /** Per currency: amounts by price in dollars, both decimal text. A price without a tier cannot be paid in it. */
  readonly currencies?: Readonly<Record<string, { readonly tiers: Readonly<Record<string, string>> }>>;
  /** Used as `currencies.jpy.tiers` when that is not set. Only `tiersOf` may read it. */
  readonly yen_tiers?: Readonly<Record<string, string>>;
  /** None when omitted. */
  readonly upstreams?: readonly UpstreamManifest[];
  /** How long the shop's book keeps sales (for ever by default), and the seller's own wallets besides the treasury. */
  readonly books?: { readonly keep_days?: number; readonly own?: readonly string[] };
  /** When omitted, failed jobs are refunded by hand. */
  readonly refunds?: RefundsManifest;
  /** Wallets that may not buy. */
  readonly deny?: readonly string[];
  /** The only wallets that may buy; all when omitted. */
  readonly allow?: readonly string[];
  /** When omitted, wallets are not screened. */
  readonly screen?: ScreenManifest;
  /** None when omitted. */
  readonly webhooks?: readonly WebhookManifest[];
  readonly limits: {
    /** How long an offer can be paid; x402's `maxTimeoutSeconds`. */
    readonly offer_seconds: number;
    /** The deadline of handlers whose manifest sets none. */
    readonly deadline_seconds: number;
    readonly body_bytes: number;
    readonly body_depth: number;
    readonly url_bytes: number;
    /** The largest head of a 402, for reverse proxies; 3900 by default. */
    readonly head_bytes?: number;
    readonly unpaid_per_minute: number;
    readonly unpaid_burst: number;
    /** How many unsettled calls of one payer may run concurrently; 64 by default. */
    readonly calls_per_payer?: number;
    /** How long answers are kept for their payers, in minutes; 15 by default. */
    readonly answers_minutes?: number;
    /** How many free calls all wallets together get per day; 1000 by default. */
    readonly free_per_day?: number;
    /** The limits of one wallet; none when omitted. */
    readonly per_payer?: {
      readonly calls_per_minute?: number;
      /** US dollars per day (UTC), decimal text. */
      readonly usd_per_day?: string;
    };
    /** From this price on, in US dollars, a settlement counts only when the chain shows it; 1 by default. */
    readonly confirm_above_usd?: string;
  };
}

/** Whether a rail is on an EVM chain; all others are on Solana. */
export const isEvm = ({ network }: Pick<RailManifest, "network">): boolean => network.startsWith("eip155:");

/**
 * Whether repeating a failed run could repeat its effect: requests other than GET, and tools, that do not say that they
 * are idempotent or only read. Plugins guard their effects by steps.
 */
export const runsOnce = ({ proxy, hints }: Manifest): boolean =>
  proxy !== undefined &&
  proxy.request?.startsWith("GET ") !== true &&
  hints?.idempotent !== true &&
  hints?.readOnly !== true;
