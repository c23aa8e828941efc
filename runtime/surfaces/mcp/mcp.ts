import type { Invoke } from "../../core/invoke.ts";
import { PATHS } from "../../core/paths.ts";
import type { Service } from "../../core/service.ts";
import type { SiteManifest } from "../../core/set/manifest.ts";
import { MCP_KEYS } from "../../core/x402/mcp-keys.ts";
import { toUnlessKept } from "../rpc/cost.ts";
import { type RpcDoor, toDoorBytes } from "../rpc/door.ts";
import type { DescribedSet } from "../schema/shown-set.ts";
import { createMcpServer } from "./server.ts";
import { createServiceTools } from "./tools.ts";
import type { McpIcon } from "./versions.ts";

export interface McpOptions extends DescribedSet {
  /** The services that can be called, retired ones included. Default: `services`. */
  readonly routed?: readonly Service[];
  readonly invoke: Invoke;
  readonly site: Pick<SiteManifest, "name" | "title" | "version" | "description" | "rails">;
  /** Whether the server listens on a loopback address only. */
  readonly loopback: boolean;
  readonly icons?: readonly McpIcon[];
}

/** What a model should know before it calls. */
const toInstructions = (services: readonly Service[]): string =>
  [
    "Every tool that names a price is paid per call, with x402; there is no account and no API key.",
    "Call a tool with its arguments: the first answer is a challenge (isError, with structuredContent.accepts) and costs nothing.",
    `Sign one of the accepted payments and repeat the identical call with it in _meta["${MCP_KEYS.payment}"], or in the`,
    "PAYMENT-SIGNATURE header.",
    `Only results are charged: refused arguments and failures are not${toUnlessKept(services, "a tool")}.`,
    "The same call with the same payment gets the same answer again, without a second charge.",
  ].join(" ");

/** The MCP endpoint of a set of services, to be mounted at `PATHS.mcp`. */
export function createMcp(options: McpOptions): RpcDoor {
  const { services, routed = services, schemas, invoke, site, baseUrl, loopback, icons } = options;
  const { name, title, version, description } = site;
  const endpoint = baseUrl + PATHS.mcp;
  return createMcpServer({
    identity: { name, title, version, description, websiteUrl: baseUrl, ...(icons && { icons }) },
    instructions: toInstructions(services),
    access: { baseUrl, loopback },
    maxBytes: toDoorBytes(routed),
    tools: createServiceTools({ services, routed, schemas, invoke, site, endpoint }),
  });
}
