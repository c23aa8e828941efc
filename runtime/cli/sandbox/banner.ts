import { styleText } from "node:util";
import type { Service } from "../../core/service.ts";
import type { SiteManifest } from "../../core/set/manifest.ts";
import type { SandboxDescription } from "../../sandbox/open-sandbox.ts";
import { toCommand } from "../../surfaces/pages/snippets.ts";
import { toColumns } from "../columns.ts";

/** The default seller of `payphone call`. */
const DEFAULT_URL = "http://127.0.0.1:4021";

export interface BannerShop {
  /** The URL at which it listens. */
  readonly url: string;
  readonly services: readonly Service[];
}

/** What a sandbox prints at its start: a warning, its services and addresses, and a command to try. */
export function toBanner(shop: BannerShop, description: SandboxDescription, site: SiteManifest): string {
  const { services, url } = shop;
  const width = Math.max(...services.map(({ path }) => path.length));
  const list = services.map(({ routes, path, manifest }) => {
    const price = manifest.price === undefined ? "free" : `$${manifest.price}`;
    return `  ${(routes[0]?.method ?? "").padEnd(4)} ${path.padEnd(width)}  ${price.padEnd(7)} ${manifest.title}`;
  });
  const addresses = [
    ...site.rails.map(({ id, title }) => [title, `${description.rpc[id]}`]),
    ["facilitator", description.facilitator],
    ["buyer's keys", `${url}/sandbox`],
  ];
  return [
    styleText(["bold", "yellow"], "SANDBOX: the money is play money. The chains run on this machine and end with it."),
    "",
    ...list,
    "",
    ...toColumns(addresses).map((line) => `  ${line}`),
    "",
    ...suggest(services, url, site),
  ].join("\n");
}

/** The shortest command that buys a call; empty when no service has a price. */
function suggest(services: readonly Service[], url: string, { rails }: SiteManifest): string[] {
  const command = services
    .filter(({ manifest }) => manifest.price !== undefined)
    .map((service) => toCommand(service, url === DEFAULT_URL ? undefined : url))
    .sort((one, other) => one.length - other.length)[0];
  if (command === undefined) return [];
  const ids = rails.map(({ id }) => id).join(", ");
  return [
    "Buy a call, from a second terminal:",
    styleText("bold", `  ${command}`),
    `See the challenge first with --dry-run; choose how to pay with --rail ${ids.replace(/, ([^,]+)$/, " or $1")}.`,
    "",
  ];
}
