import type * as schemas from "../../../schemas/generated/manifests.ts";

/** What a file says, with types generated from its schema (`npm run types`). */
type Frozen<T> = T extends object ? { readonly [Key in keyof T]: Frozen<T[Key]> } : T;

/** `manifests/<id>.yaml`, one service, after its check against `schemas/manifest.json`. Frozen. */
export interface Manifest extends Frozen<schemas.Manifest> {
  /** Set when the answer is a file: `output` is then the schema of the file's JSON form. */
  readonly media?: MediaManifest;
}

/** An answer that is a file. */
export interface MediaManifest {
  /** Its media type; `image/*` for any picture. */
  readonly type: string;
  readonly max_bytes: number;
}

/** A proxied service: an HTTP API (`upstream`, `request`) or a tool of an MCP server (`mcp`, `tool`). */
export type ProxyManifest = NonNullable<Manifest["proxy"]>;

/** How an upstream is polled until an order is done. */
export type PollManifest = NonNullable<ProxyManifest["poll"]>;

/** How the jobs of a service are run. */
export type JobManifest = NonNullable<Manifest["job"]>;

/** Limits of one request to the language model. */
export type LlmLimits = NonNullable<Manifest["llm"]>;

/** `manifests/_site.yaml`: settings for all services. Only `tiersOf` may read `yen_tiers`. */
export type SiteManifest = Frozen<schemas.SiteManifest>;

/** One way of paying: a token on a network. Only `facilitatorsOf` may read its `facilitator`. */
export type RailManifest = SiteManifest["rails"][number];

/** Which smart wallets are deployed for payers, and how many. */
export type SmartWalletsManifest = NonNullable<RailManifest["smart_wallets"]>;

/** An HTTP facilitator. */
export type FacilitatorManifest = NonNullable<SiteManifest["facilitators"]>[number];

/** An external source. */
export type UpstreamManifest = NonNullable<SiteManifest["upstreams"]>[number];

/** A credential of an upstream: in a header, after `scheme` if that is set, or in a query parameter. */
export type KeyManifest = NonNullable<UpstreamManifest["key"]>;

/** How wallets are screened before a sale. */
export type ScreenManifest = NonNullable<SiteManifest["screen"]>;

/** A receiver of events about sales, refunds and troubles. */
export type WebhookManifest = NonNullable<SiteManifest["webhooks"]>[number];

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

/** The upstream or the MCP server of a proxied service. */
export const sourceIdOf = ({ proxy }: Partial<Pick<Manifest, "proxy">>): string | undefined =>
  proxy?.upstream ?? proxy?.mcp;

/** All credentials of an upstream. */
export const keysOf = ({ key, keys = [] }: Partial<UpstreamManifest> = {}): readonly KeyManifest[] =>
  key ? [key, ...keys] : keys;

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
