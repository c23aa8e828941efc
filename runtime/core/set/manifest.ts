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
  /** US dollars, decimal text; left out means free. */
  readonly price?: string;
  /** When the money moves: before the work, or (unless said) after it. */
  readonly charge?: "first" | "last";
  /** What a wallet that signs in may call without paying; left out means nothing. */
  readonly free?: { readonly calls: number; readonly per: "hour" | "day" };
  /** Whether calls need a wallet that has signed in. */
  readonly sign_in?: boolean;
  /** `plugin.handler`; left out where `proxy` is set. */
  readonly handler?: string;
  /** Somebody else's service, sold in the place of a handler's. */
  readonly proxy?: ProxyManifest;
  /** The name of a file in `schemas/`, or an inline schema. */
  readonly input: string | object;
  readonly output: string | object;
  /** Set where the answer is a file: `output` is then the schema of its form as JSON. */
  readonly media?: MediaManifest;
  readonly tags: readonly string[];
  readonly category?: string;
  readonly hints?: {
    readonly readOnly?: boolean;
    readonly idempotent?: boolean;
    readonly destructive?: boolean;
    readonly openWorld?: boolean;
  };
  /** The handler's deadline; left out means the site's `deadline_seconds`. */
  readonly deadline_seconds?: number;
  /** The largest JSON body; left out means the site's `body_bytes`. */
  readonly body_bytes?: number;
  /** Environment variables that the plugin is lent. */
  readonly needs?: readonly string[];
  /** Ids of the site's upstreams. */
  readonly upstreams?: readonly string[];
  /** Bounds of one question to the language model; set where the service asks it. */
  readonly llm?: LlmLimits;
  /**
   * Set where the work takes longer than a request may: calls are then jobs, and the handler's output is the
   * deliverable.
   */
  readonly job?: JobManifest;
  readonly examples: readonly { readonly input: unknown; readonly output?: unknown }[];
}

/** The name of a service's handler: `plugin.handler`, or `proxy:` and the id of a service that is proxied. */
export const handlerOf = ({ id, handler }: Pick<Manifest, "id" | "handler">): string => handler ?? `proxy:${id}`;

/** The ids of the upstreams that a service reads. */
export const upstreamsOf = ({
  upstreams = [],
  proxy,
}: Partial<Pick<Manifest, "upstreams" | "proxy">>): readonly string[] =>
  [...upstreams, proxy?.upstream, proxy?.mcp].filter((id) => id !== undefined);

/** How the jobs of a service are run. */
export interface JobManifest {
  /** `GET /path/{job_id}`: where a job is polled, free of charge. */
  readonly status_route: string;
  /** The expected duration, as callers are told. */
  readonly eta_seconds: number;
  /** The deadline of one attempt. */
  readonly deadline_seconds: number;
  /** How many attempts may fail for transient reasons before the job has failed. */
  readonly attempts: number;
  /** How many jobs one process runs at the same time. */
  readonly concurrency: number;
  /** How many jobs may be queued, over all processes; further calls are refused and not charged. */
  readonly queue_limit: number;
  /** Whether the price of a failed job is refunded. */
  readonly refund: boolean;
}

/** Bounds of one question to the language model. */
export interface LlmLimits {
  readonly max_tokens: number;
  /** The timeout of one attempt. */
  readonly timeout_seconds: number;
}

/** How failed jobs are refunded automatically. */
export interface RefundsManifest {
  /** The id of an EVM rail. */
  readonly rail: string;
  /** The id of the service that screens recipients: takes `wallet`, answers `sanctions_match`. */
  readonly screen: string;
}

/** An external source, as listed in `_site.yaml`. */
export interface UpstreamManifest extends McpServerManifest, Keyed {
  readonly id: string;
  readonly title: string;
  /** The source's URL; left out where only `variable` gives it. */
  readonly url?: string;
  /** The environment variable whose URL replaces `url`. */
  readonly variable?: string;
  /** Set where the source is a JSON-RPC node: its chain (CAIP-2). */
  readonly network?: string;
  /** The timeout of one attempt; 5 by default. */
  readonly timeout_seconds?: number;
  /** 2 by default. */
  readonly retries?: number;
  /** After how many failed requests in a row it is left alone, and for how long; 5 and 15 seconds by default. */
  readonly breaker?: { readonly failures: number; readonly seconds: number };
  /** Its limit as a token bucket; none by default. */
  readonly rate?: { readonly per_second: number; readonly burst: number };
}

/** One way of being paid (a token on a network), as listed in `_site.yaml`. */
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
  /** The environment variable that holds the receiving address. */
  readonly pay_to: string;
  /** The environment variable that holds the chain's RPC URL. */
  readonly rpc: string;
  /** `remote`, `in-process`, or ids of `facilitators` in the order of failover. To be read by `facilitatorsOf` alone. */
  readonly facilitator?: string | readonly string[];
  /** The token's EIP-712 domain, for EVM rails. */
  readonly domain?: { readonly name: string; readonly version: string };
  /** `usd`: the token is a dollar. All others: three letters; amounts come from the site's fixed tiers. */
  readonly currency: string;
  /** Whether what is paid there is worth nothing. */
  readonly testnet?: boolean;
  /** An explorer's URL with `{tx}` in it. */
  readonly explorer: string;
  /** The same with `{address}`. Left out: addresses lead nowhere. */
  readonly explorer_address?: string;
  /**
   * The highest fee of one transaction of the treasury on this chain, in its native coin, decimal text. EVM rails only.
   */
  readonly max_fee?: string;
  /** Wallets that payphone deploys with their first payment (ERC-6492); left out: none. In-process rails only. */
  readonly smart_wallets?: SmartWalletsManifest;
}

/** An HTTP facilitator, as listed in `_site.yaml`. */
export interface FacilitatorManifest {
  readonly id: string;
  /** Left out where only `variable` gives it. */
  readonly url?: string;
  /** The environment variable whose URL replaces `url`. */
  readonly variable?: string;
  /** The environment variable that holds the headers of every request, as JSON. */
  readonly headers?: string;
  /** CAIP-2; left out: all. */
  readonly networks?: readonly string[];
}

/** Which smart wallets are deployed for payers, and how many. */
export interface SmartWalletsManifest {
  /** The contracts that may be called to deploy one: EVM addresses. */
  readonly factories: readonly string[];
  /** The most within 24 hours; each costs the treasury gas. */
  readonly per_day: number;
}

/** `manifests/_site.yaml`: what holds for all services. */
export interface SiteManifest {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** `info.version` of the machine-readable description. */
  readonly version: string;
  readonly catalog_version: string;
  readonly contact: { readonly name: string; readonly url: string };
  readonly rails: readonly RailManifest[];
  /** Left out: none. */
  readonly facilitators?: readonly FacilitatorManifest[];
  /** By currency: amounts by price in dollars, both decimal text. A price without a tier cannot be paid in the currency. */
  readonly currencies?: Readonly<Record<string, { readonly tiers: Readonly<Record<string, string>> }>>;
  /** The same as `currencies.jpy.tiers`. To be read by `tiersOf` alone. */
  readonly yen_tiers?: Readonly<Record<string, string>>;
  /** Left out: none. */
  readonly upstreams?: readonly UpstreamManifest[];
  /** How long the shop's book keeps sales (left out: for ever), and the seller's own wallets beside the treasury. */
  readonly books?: { readonly keep_days?: number; readonly own?: readonly string[] };
  /** Left out: failed jobs are refunded by hand. */
  readonly refunds?: RefundsManifest;
  /** Wallets that nothing is sold to. */
  readonly deny?: readonly string[];
  /** The only wallets that anything is sold to; left out: all. */
  readonly allow?: readonly string[];
  /** Left out: wallets are not screened. */
  readonly screen?: ScreenManifest;
  /** Left out: nobody is told. */
  readonly webhooks?: readonly WebhookManifest[];
  readonly limits: {
    /** How long an offer can be paid; `maxTimeoutSeconds` of x402. */
    readonly offer_seconds: number;
    /** The deadline of handlers whose manifest sets none. */
    readonly deadline_seconds: number;
    readonly body_bytes: number;
    readonly body_depth: number;
    readonly url_bytes: number;
    /** The largest head of a 402, for the proxies in front; 3900 unless said otherwise. */
    readonly head_bytes?: number;
    readonly unpaid_per_minute: number;
    readonly unpaid_burst: number;
    /** How many unsettled calls of one payer may be worked on at once; 64 unless said otherwise. */
    readonly calls_per_payer?: number;
    /** How long answers are kept for their payers, in minutes; 15 unless said otherwise. */
    readonly answers_minutes?: number;
    /** How many free calls all wallets together get in a day; 1000 unless said otherwise. */
    readonly free_per_day?: number;
    /** What one wallet may buy; left out: as much as it likes. */
    readonly per_payer?: {
      readonly calls_per_minute?: number;
      /** US dollars in a day (UTC), decimal text. */
      readonly usd_per_day?: string;
    };
    /** From this price on, in US dollars, a settlement counts only once the chain shows it; 1 unless said otherwise. */
    readonly confirm_above_usd?: string;
  };
}

/** Whether a rail is on an EVM chain; all others are on Solana. */
export const isEvm = ({ network }: Pick<RailManifest, "network">): boolean => network.startsWith("eip155:");
