import packageJson from "../../../package.json" with { type: "json" };
import { facilitatorsOf } from "../../core/rails/facilitators.ts";
import { isTestSite } from "../../core/rails/networks.ts";
import type { Service } from "../../core/service.ts";
import type { RailStatus } from "../../core/x402/rails.ts";
import { toColumns } from "../columns.ts";
import type { Config } from "../config/config.ts";
import { railVariables } from "../config/serve.ts";
import type { ManifestSet } from "../set/load.ts";

/** The facts of a server at its start. */
export interface BannerParts {
  readonly set: Pick<ManifestSet, "dir" | "site">;
  /** The digest of the set; undefined when its files could not be read again. */
  readonly digest: string | undefined;
  readonly services: readonly Service[];
  /** By id. */
  readonly rails: ReadonlyMap<string, RailStatus>;
  readonly config: Config;
  readonly baseUrl: string;
}

/** What `serve` prints at its start: services, rails, address and set. */
export function toServeBanner({ set, digest, services, rails, config, baseUrl }: BannerParts): string {
  const { site, dir } = set;
  const money = isTestSite(site) ? "test money, which is worth nothing" : "real money";
  const sold = services.map(({ routes, path, manifest: { title, price } }) => [
    `  ${routes[0]?.method ?? ""} ${path}`,
    price === undefined ? "free" : `$${price}`,
    title,
  ]);
  const ways = site.rails.map((rail) => {
    const status = rails.get(rail.id);
    const state = status?.state === "down" ? `down: ${status.reason}` : (status?.state ?? "not asked yet");
    const settlers = facilitatorsOf(rail, site).join(", then ");
    return [`  ${rail.title}`, railVariables(config, rail).payTo, `settled by ${settlers}`, state];
  });
  return [
    `payphone ${packageJson.version}: ${site.title} sells for ${money} at ${baseUrl}`,
    `  from ${dir}${digest === undefined ? "" : `, set ${digest.slice(0, 12)}`}`,
    `  state in ${config.redisUrl === undefined ? config.dataDir : "Redis"}`,
    "",
    ...toColumns(sold),
    "",
    ...toColumns(ways),
    "",
  ].join("\n");
}
