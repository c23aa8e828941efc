import { styleText } from "node:util";
import type { SiteManifest } from "../core/manifest.ts";
import type { SandboxDescription } from "../sandbox/open-sandbox.ts";
import type { Running } from "./run.ts";

/** What a sandbox says of itself, loudly, and what to try next. */
export function toBanner(running: Running, description: SandboxDescription, site: SiteManifest): string {
  const { services, url } = running;
  const width = Math.max(...services.map(({ path }) => path.length));
  const list = services.map(({ routes, path, manifest }) => {
    const price = manifest.price === undefined ? "free" : `$${manifest.price}`;
    return `  ${(routes[0]?.method ?? "").padEnd(4)} ${path.padEnd(width)}  ${price.padEnd(7)} ${manifest.title}`;
  });
  const chains = site.rails.map(({ id, title }) => `  ${title.padEnd(16)} ${description.rpc[id]}`);
  return [
    styleText(["bold", "yellow"], "SANDBOX: the money is play money. The chains run on this machine and end with it."),
    "",
    ...list,
    "",
    ...chains,
    `  ${"facilitator".padEnd(16)} ${description.facilitator}`,
    `  ${"buyer's keys".padEnd(16)} ${url}/sandbox`,
    "",
    "Buy a call, from a second terminal:",
    styleText(
      "bold",
      `  npx payphone call roll '{"low":1,"high":6}'${new URL(url).port === "4021" ? "" : ` --url ${url}`}`,
    ),
    "See the challenge first with --dry-run; choose how to pay with --rail base, solana or polygon.",
    "",
  ].join("\n");
}
