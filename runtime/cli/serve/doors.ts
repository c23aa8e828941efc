import { PATHS } from "../../core/paths.ts";
import type { Service } from "../../core/service.ts";
import type { OpenStore } from "../../drivers/store/keyv.ts";
import { isLoopback } from "../../server/listen.ts";
import type { A2aOptions } from "../../surfaces/a2a/a2a.ts";
import { createMcp } from "../../surfaces/mcp/mcp.ts";
import type { RpcDoor } from "../../surfaces/rpc/door.ts";
import type { ShownSet } from "../../surfaces/schema/shown-set.ts";
import type { Config } from "../config/config.ts";
import { loadDocuments } from "./assets.ts";
import { type OpenPeerDoor, openPeerDoor } from "./peer-door.ts";

export interface DoorsOptions
  extends Pick<A2aOptions, "invoke" | "exchanges" | "identity" | "signIns" | "clock" | "log"> {
  /** What the surfaces are made from. */
  readonly shown: ShownSet;
  /** The services that can be called, retired ones included. */
  readonly routed: readonly Service[];
  readonly config: Config;
  readonly store: OpenStore;
  /** The additional doors of a sandbox, by path; undefined outside a sandbox. */
  readonly sandbox: { readonly doors: ReadonlyMap<string, RpcDoor> } | undefined;
}

/** Everything that is served besides the routes of services, by path. */
export type Doors = OpenPeerDoor;

/** Opens MCP, A2A and the doors of a sandbox, and builds all documents once. */
export async function openDoors({ shown, config, sandbox, ...own }: DoorsOptions): Promise<Doors> {
  const { baseUrl } = shown;
  const links = { documentation: `${baseUrl}/docs`, icon: `${baseUrl}/icon.png` };
  const agents = openPeerDoor({ ...shown, ...own, createLimiter: own.store.createLimiter, config, links });
  const icons = [{ src: links.icon, mimeType: "image/png", sizes: ["256x256"] }];
  const mcp = createMcp({ ...shown, routed: own.routed, invoke: own.invoke, loopback: isLoopback(config.host), icons });
  const doors = new Map<string, RpcDoor>([...agents.doors, [PATHS.mcp, mcp], ...(sandbox?.doors ?? [])]);
  const documents = await loadDocuments({ ...shown, isSandbox: sandbox !== undefined });
  return { doors, documents: new Map([...documents, ...agents.documents]), close: agents.close };
}
