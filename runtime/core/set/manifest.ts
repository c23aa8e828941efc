/** A manifest as its author wrote it, after `schemas/manifest.json` has held; frozen. One file = one service. */
export interface Manifest {
  /** The file's name without `.yaml`. */
  readonly id: string;
  readonly title: string;
  readonly description: string;
  /** `METHOD /path`. */
  readonly route: string;
  /** More routes of the same service, e.g. its GET form. */
  readonly aliases?: readonly string[];
  /** US dollars in decimal text; left out means free. */
  readonly price?: string;
  /** `plugin.handler`. */
  readonly handler: string;
  /** The name of a file in `schemas/`, or a schema written in the manifest. */
  readonly input: string | object;
  readonly output: string | object;
  readonly tags: readonly string[];
  readonly category?: string;
  readonly hints?: {
    readonly readOnly?: boolean;
    readonly idempotent?: boolean;
    readonly destructive?: boolean;
    readonly openWorld?: boolean;
  };
  /** How long a handler may take; left out means the site's `deadline_seconds`. */
  readonly deadline_seconds?: number;
  /** Environment variables that the plugin is lent. */
  readonly needs?: readonly string[];
  /** Ids of the site's upstreams. */
  readonly upstreams?: readonly string[];
  /** What one question to the language model may cost; set where the service asks it. */
  readonly llm?: LlmLimits;
  /** Set where the answer takes longer than a request may: the handler's output is then the deliverable. */
  readonly job?: JobManifest;
  readonly examples: readonly { readonly input: unknown; readonly output?: unknown }[];
}

/** How a service's calls outlive their requests. */
export interface JobManifest {
  /** `GET /path/{job_id}`: where a job is polled, free of charge. */
  readonly status_route: string;
  /** What callers are told to expect. */
  readonly eta_seconds: number;
  /** How long one attempt may take. */
  readonly deadline_seconds: number;
  /** How many attempts may fail for reasons that may pass, before the job has failed. */
  readonly attempts: number;
  /** How many jobs one process works on at the same time. */
  readonly concurrency: number;
  /** How many jobs may be in line, in all processes, before new ones are refused unpaid. */
  readonly queue_limit: number;
  /** Whether the price is paid back when the job has failed. */
  readonly refund: boolean;
}

/** Bounds of one question to the language model. */
export interface LlmLimits {
  readonly max_tokens: number;
  /** Of one attempt. */
  readonly timeout_seconds: number;
}

/** How failed jobs are paid back by themselves. */
export interface RefundsManifest {
  /** The id of an EVM rail. */
  readonly rail: string;
  /** The id of the service that screens recipients: `{wallet}` to `{sanctions_match}`. */
  readonly screen: string;
}

/** A source that services read, as `_site.yaml` writes it. */
export interface UpstreamManifest {
  readonly id: string;
  readonly title: string;
  /** Left out: only the variable says where it is. */
  readonly url?: string;
  /** The environment variable whose URL replaces `url`. */
  readonly variable?: string;
  /** CAIP-2: the source is a JSON-RPC node of this chain. */
  readonly network?: string;
  readonly key?: { readonly variable: string; readonly header: string };
  /** Of one attempt; 5 unless said otherwise. */
  readonly timeout_seconds?: number;
  /** 2 unless said otherwise. */
  readonly retries?: number;
}

/** One way of being paid, as `_site.yaml` writes it. */
export interface RailManifest {
  /** `base`, `solana`, `polygon`: what buyers type after `--rail`; also the x402 V1 network name. */
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
  /** `remote`: the HTTP facilitator; `in-process`: payphone settles by itself with the treasury's key. */
  readonly facilitator: "remote" | "in-process";
  /** The token's EIP-712 domain, for EVM rails. */
  readonly domain?: { readonly name: string; readonly version: string };
  /** `usd`: the token counts dollars. `jpy`: amounts come from the site's fixed yen tiers. */
  readonly currency: "usd" | "jpy";
  /** An explorer's URL with `{tx}` in it. */
  readonly explorer: string;
  /** The most that one transaction of the treasury may cost on this chain, in its own coin, decimal text. EVM rails only. */
  readonly max_fee?: string;
}

/** `manifests/_site.yaml`: what is true of all services. */
export interface SiteManifest {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** `info.version` of the machine-readable description. */
  readonly version: string;
  readonly catalog_version: string;
  readonly contact: { readonly name: string; readonly url: string };
  readonly rails: readonly RailManifest[];
  /** Yen for a price in dollars, both decimal text. A price without a tier has no yen rail. */
  readonly yen_tiers: Readonly<Record<string, string>>;
  /** Left out: none. */
  readonly upstreams?: readonly UpstreamManifest[];
  /** Left out: failed jobs are paid back by hand. */
  readonly refunds?: RefundsManifest;
  readonly limits: {
    /** How long an offer may be paid; `maxTimeoutSeconds` of x402. */
    readonly offer_seconds: number;
    /** How long a handler may run when its manifest does not say. */
    readonly deadline_seconds: number;
    readonly body_bytes: number;
    readonly body_depth: number;
    readonly url_bytes: number;
    readonly unpaid_per_minute: number;
    readonly unpaid_burst: number;
  };
}

/** Whether a rail is on an EVM chain, by its CAIP-2 network; all others are on Solana. */
export const isEvm = ({ network }: Pick<RailManifest, "network">): boolean => network.startsWith("eip155:");
